/**
 * The server's clock, moved to that day: its answers depend on the day, and a test must not depend on
 * the day that it is run.
 */
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
