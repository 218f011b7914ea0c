import { Parser } from 'htmlparser2';
import { visible } from '../text/characters.ts';

const silentElements = /^(?:script|style|head|template|noscript|iframe|object)$/;
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

/** Element names with a namespace prefix or a hyphen: Office documents and custom elements. */
const customElementName = /^[a-z]\w*(?:-[\w-]+|:\w+)$/;

/** Angle brackets around anything but an element, such as an e-mail address, are text. */
const isElement = (name: string): boolean =>
  elements.has(name) || customElementName.test(name) || name.includes('<');

/** Placeholder for a literal `<`: a Unicode noncharacter. */
const kept = '\uFDD0';

/** Non-elements are kept only if no browser could parse them as an element with an event handler. */
const asText = (source: string): string =>
  source.includes('=') ? source : source.replace('<', kept);

/** Maximum number of tags, since parsing time grows with open elements; what follows is treated as text. */
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
 * Converts HTML to readable text, without scripts and styles. The result contains no markup, also none
 * decoded from entities: a `<` that could start an element becomes `&lt;`.
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
        if (silentElements.test(name)) silentDepth += 1;
        if (blockElements.test(name)) append('\n');
        if (name === 'li') append('- ');
        if (name === 'td' || name === 'th') append(' ');
      },
      ontext: (text) => append(text.replaceAll(kept, '')),
      onclosetag(name, isImplied) {
        if (!isElement(name) && !isImplied) {
          append(asText(html.slice(parser.startIndex, parser.endIndex + 1)));
        }
        if (silentElements.test(name)) silentDepth -= 1;
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
