import { Parser } from 'htmlparser2';
import { visible } from '../text/characters.ts';

const silentElements = new Set([
  'script',
  'style',
  'head',
  'template',
  'noscript',
  'iframe',
  'object',
]);
const blockElements = /^(?:p|div|br|li|tr|table|ul|ol|h[1-6]|section|article|blockquote|pre|hr)$/;
const elements = new Set(
  `a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink
  blockquote body br button canvas caption center cite code col colgroup data datalist dd del details
  dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3
  h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main map mark
  marquee math menu meta meter nav nobr noembed noframes noscript object ol optgroup option output p
  param picture plaintext pre progress q rp rt ruby s samp script search section select slot small
  source span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead
  time title tr track tt u ul var video wbr xmp`.split(/\s+/),
);

/** Of Office documents and of components. */
const customElementName = /^[a-z]\w*(?:-[\w-]+|:\w+)$/;

/** What is between angle brackets and no element, such as an address of e-mail, is text. */
const isElement = (name: string): boolean =>
  elements.has(name) || customElementName.test(name) || name.includes('<');

/** Stands for a `<` that is to stay one: a character that Unicode gives no meaning. */
const kept = '\uFDD0';

/** Of what is no element only that stays as it is which no browser could take for one with a handler. */
const asText = (source: string): string =>
  source.includes('=') ? source : source.replace('<', kept);

/** The parser looks through all open elements at each tag; what follows so many tags is read as text. */
const maxTags = 5_000;

function endOfMarkup(html: string): number {
  let at = -1;
  for (let tags = 0; tags <= maxTags; tags++) {
    at = html.indexOf('<', at + 1);
    if (at < 0) return html.length;
  }
  return at;
}

/**
 * The text of a piece of HTML as a person would read it; scripts and styles are not read. What comes out is
 * no markup, whatever entities it was made of: a `<` that could begin an element comes out as `&lt;`.
 */
export function htmlToText(html: string): string {
  const parts: string[] = [];
  let silentDepth = 0;
  const append = (text: string) => {
    if (silentDepth === 0) parts.push(text);
  };
  const parser: Parser = new Parser(
    {
      onopentag(name) {
        if (!isElement(name)) append(asText(html.slice(parser.startIndex, parser.endIndex + 1)));
        if (silentElements.has(name)) silentDepth += 1;
        if (blockElements.test(name)) append('\n');
        if (name === 'li') append('- ');
        if (name === 'td' || name === 'th') append(' ');
      },
      ontext: (text) => append(text.replaceAll(kept, '')),
      onclosetag(name, isImplied) {
        if (!isElement(name) && !isImplied) {
          append(asText(html.slice(parser.startIndex, parser.endIndex + 1)));
        }
        if (silentElements.has(name)) silentDepth -= 1;
        if (blockElements.test(name) && name !== 'br') append('\n');
      },
    },
    { decodeEntities: true },
  );
  const end = endOfMarkup(html);
  parser.end(html.slice(0, end));
  parts.push(html.slice(end));
  return visible(parts.join(''))
    .replace(/<(?=[a-z/!?])/gi, '&lt;')
    .replaceAll(kept, '<')
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
