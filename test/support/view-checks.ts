/** What every view has to be: accessible, readable, and harmless. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect } from 'vitest';
import { shared } from './shared.ts';
import type { OpenedView, Options } from './view-host.ts';

export const texts = ({ frame }: OpenedView, selector: string) =>
  frame.$$eval(selector, (found) => found.map((it) => it.textContent ?? ''));

/** Waits until the board of the pipeline has all deals. */
export const allRead = ({ frame }: Pick<OpenedView, 'frame'>) =>
  frame.waitForFunction(() =>
    /^\S+ of \S+ open opportunities shown\.$/.test(
      document.querySelector('.reading p[role="status"]')?.textContent ?? '',
    ),
  );

const axe = shared(() => readFile(createRequire(import.meta.url).resolve('axe-core'), 'utf8'));

interface Violation {
  id: string;
  nodes: { html: string }[];
}

/** The accessibility problems that axe finds. */
export async function violations({ frame }: OpenedView): Promise<string[]> {
  await frame.evaluate(await axe());
  const found = (await frame.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then((it) => it.violations)`,
  )) as Violation[];
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

const reading = /^cpq_(brief|list|get|pipeline|check)_/;

/** Expects no request to the outside, no error, and only calls of these tools, by default those that read. */
export function expectHarmless({ requests, errors, calls }: OpenedView, tools = reading): void {
  expect(requests.filter((url) => !/^(http:\/\/view-host\.test\/|about:)/.test(url))).toEqual([]);
  expect(errors).toEqual([]);
  for (const { name } of calls) expect(name).toMatch(tools);
}

/** Neither the page nor a table is wider than its place, and no card is wider than its column. */
export const fitsIn = ({ frame }: OpenedView) =>
  frame.evaluate(() => {
    const isWider = (it: Element) => it.scrollWidth > it.clientWidth + 1;
    const isOutside = (card: Element) => {
      const column = card.closest('.column')?.getBoundingClientRect();
      const { left, right } = card.getBoundingClientRect();
      return column !== undefined && (left < column.left || right > column.right);
    };
    return (
      document.documentElement.scrollWidth <= window.innerWidth &&
      ![...document.querySelectorAll('.scroll')].some(isWider) &&
      ![...document.querySelectorAll('.card')].some(isOutside)
    );
  });

export const looks: readonly (readonly [name: string, options: Options])[] = [
  ['light', {}],
  ['dark', { context: { theme: 'dark' } }],
  ['narrow', { width: 360 }],
  ['with forced colours', { media: { forcedColors: 'active', reducedMotion: 'reduce' } }],
  // A window of 1,200 pixels.
  ['at 200 % zoom', { width: 600, media: { deviceScaleFactor: 2 } }],
  ['from right to left', { context: { locale: 'ar-EG' } }],
];

/** Texts that are cut off, or squeezed to a letter or two in a line. */
export const unreadable = ({ frame }: OpenedView): Promise<string[]> =>
  frame.$$eval('#view *', (all) =>
    all
      .filter(
        (it) =>
          it.childElementCount === 0 &&
          !it.closest('.hidden, .lines thead, .differences thead, .table thead'),
      )
      .filter((it) => {
        const { width, height } = it.getBoundingClientRect();
        const isCut =
          getComputedStyle(it).overflowX !== 'visible' && it.scrollWidth > it.clientWidth + 1;
        return isCut || (it.textContent !== '' && height > 4 * width && width > 0);
      })
      .map((it) => it.outerHTML),
  );
