import { Parser } from 'htmlparser2';

const silent = new Set(['script', 'style', 'head', 'template', 'noscript', 'iframe', 'object']);
const breaking = /^(?:p|div|br|li|tr|table|ul|ol|h[1-6]|section|article|blockquote|pre|hr)$/;

/** The text of a piece of HTML as a person would read it; scripts and styles are not read. */
export function htmlToText(html: string): string {
  const parts: string[] = [];
  let silence = 0;
  const parser = new Parser(
    {
      onopentag(name) {
        if (silent.has(name)) silence += 1;
        if (breaking.test(name)) parts.push('\n');
        if (name === 'li') parts.push('- ');
        if (name === 'td' || name === 'th') parts.push(' ');
      },
      ontext(text) {
        if (silence === 0) parts.push(text);
      },
      onclosetag(name) {
        if (silent.has(name)) silence -= 1;
        if (breaking.test(name) && name !== 'br') parts.push('\n');
      },
    },
    { decodeEntities: true },
  );
  parser.end(html);
  return parts
    .join('')
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
