/** Sets the server's clock to this day, because answers depend on the day. */
export function clockAt(day: string): Record<string, string> {
  const source = `
    const Real = Date;
    const ahead = Real.parse('${day}T12:00:00Z') - Real.now();
    globalThis.Date = class Date extends Real {
      constructor(...given) { super(...(given.length > 0 ? given : [Real.now() + ahead])); }
      static now() { return Real.now() + ahead; }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
}
