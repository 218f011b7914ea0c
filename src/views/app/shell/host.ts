/** Applies the host's theme, colours and fonts to the page. */
import type { McpUiHostContext } from '@modelcontextprotocol/ext-apps';
import { rightToLeft } from './format.ts';

const fonts = new CSSStyleSheet();
document.adoptedStyleSheets = [fonts];
const ourName = /^--(?:color|font|border|shadow)-[a-z0-9-]+$/;

export function applyContext({ theme, styles, safeAreaInsets, locale }: McpUiHostContext): void {
  const root = document.documentElement;
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  if (locale !== undefined) root.dir = rightToLeft.test(locale) ? 'rtl' : 'ltr';
  for (const [name, value] of Object.entries(styles?.variables ?? {})) {
    if (ourName.test(name) && typeof value === 'string') root.style.setProperty(name, value);
  }
  // A constructed style sheet needs no exception in the content security policy, and cannot import others.
  if (styles?.css?.fonts !== undefined) fonts.replaceSync(styles.css.fonts);
  for (const side of ['top', 'right', 'bottom', 'left'] as const) {
    const inset = safeAreaInsets?.[side];
    if (inset !== undefined) root.style.setProperty(`--inset-${side}`, `${Number(inset)}px`);
  }
}

/** The height to report: no more than the host gives; none to a host that set it. */
export function heightWithin(
  height: number,
  { containerDimensions: room = {} }: McpUiHostContext,
): number | undefined {
  if ('height' in room) return undefined;
  return 'maxHeight' in room && room.maxHeight ? Math.min(height, room.maxHeight) : height;
}
