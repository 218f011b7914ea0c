/** Columns of a line; a narrower terminal wraps lines itself. */
const lineWidth = 100;

/** Wraps at spaces; further lines begin with `indent`. */
export function wrap(text: string, indent: string): string {
  if (text.length <= lineWidth) return text;
  const at = text.lastIndexOf(' ', lineWidth);
  if (at <= indent.length) return text;
  return `${text.slice(0, at)}\n${wrap(indent + text.slice(at + 1), indent)}`;
}
