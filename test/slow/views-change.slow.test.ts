import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { readView } from '../../src/views/views.ts';
import {
  anyOpportunity,
  editRecord,
  openWriter,
  personAnswers,
  putsOf,
  recordOf,
  type Writer,
} from '../support/consent.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import type { Row } from '../support/hosts.ts';
import { describeWith } from '../support/needs.ts';
import { shared } from '../support/shared.ts';
import { hold } from '../support/until.ts';
import {
  expectHarmless,
  fitsIn,
  looks,
  texts,
  unreadable,
  violations,
} from '../support/view-checks.ts';
import { questionFor, showsViews } from '../support/view-client.ts';
import {
  everyCapability,
  type OpenedView,
  type Options,
  openView,
  type ViewServer,
} from '../support/view-host.ts';

/** The view of a change: with results that a test makes up, and with the server. */

const uri = 'ui://cpq-mcp/change.html';
const secret = 'one-time-secret-of-the-button';
const tenMinutes = 600_000;
const inTime = () => new Date(Date.now() + tenMinutes).toISOString();

const words = 'The customer asks for a new network in both offices, with support at weekends.';
const long = Array.from({ length: 6 }, (_, at) => `${at + 1}. ${words}`).join(' ⏎ ');
const unseen = 'they differ only in characters that are not visible here';
const changes = [
  { field: 'stage', label: 'Stage', from: '“Discovery”', to: '“Proposal out”' },
  {
    field: 'onetime_revenue',
    label: 'One-time revenue',
    from: '12,000.00 USD',
    to: '14,500.50 EUR',
  },
  {
    field: 'company',
    label: 'Company',
    from: '\u2068“שלום עולם”\u2069',
    to: '“Acme” (c-2)',
    differs: unseen,
  },
  {
    field: 'description',
    label: 'Description',
    from: '“Old ask” (3 invisible characters)',
    to: `“${long}”`,
  },
];
const proposal = {
  what: 'change',
  opportunity: '“Laptop refresh”',
  company: '\u2068“شركة المثال”\u2069',
  externalId: '“opp-17”',
  host: 'api.example.com',
  changes,
  remarks: [
    'another company has the name “Acme”, or one that looks the same: “Аcme” (c-3).',
    'amounts stay the same numbers, but in EUR instead of USD.',
  ],
  closing: 'Every other field stays as it is. Nothing is sent to a customer. It can be reverted.',
};

const answerOf = (outcome: string, more: Row = {}, _meta?: Row) => {
  const structuredContent = {
    summary: `The summary of ${outcome}.`,
    outcome,
    changes: [{ field: 'stage', from: 'Discovery', to: 'Proposal out' }],
    ...more,
  };
  const text = `${structuredContent.summary}\noutcome: ${outcome}`;
  return { content: [{ type: 'text', text }], structuredContent, ...(_meta && { _meta }) };
};

const consentOf = (more: Row = {}) => ({
  'cpq-mcp/consent': {
    secret,
    expiresAt: inTime(),
    tool: 'cpq_upsert_opportunity',
    arguments: { opportunity_id: 'o-17', stage: 'Proposal out' },
    question: `Change the opportunity “Laptop refresh”?\n• Stage: “Discovery” → “Proposal out”`,
    proposal,
    ...more,
  },
});
const preview = [
  'Change the opportunity “Laptop refresh”?',
  '• Stage: “Discovery” → “Proposal out”',
];
const asked = (more?: Row) => answerOf('not_asked', { preview }, consentOf(more));

/** A server whose upsert has this result, and whose next answer is that of `answer`. */
const serverOf = (result: unknown, answer: () => unknown): ViewServer => ({
  tools: async () => [
    {
      name: 'cpq_upsert_opportunity',
      inputSchema: { type: 'object' },
      _meta: { ui: { resourceUri: uri } },
    },
  ],
  call: async () => ({ result, data: {} }) as never,
  ask: async () => ({ result: await answer() }) as never,
  request: async () => ({
    contents: [{ uri, mimeType: 'text/html;profile=mcp-app', text: await readView('change') }],
  }),
});

const open = (
  result: unknown,
  answer: () => unknown = () => answerOf('written'),
  more: Options = {},
) => {
  const options = { capabilities: everyCapability, ...more };
  return openView(serverOf(result, answer), 'cpq_upsert_opportunity', {}, options);
};

const button = ({ frame }: OpenedView, name: 'Write it' | 'Do not write') =>
  frame.getByRole('button', { name, exact: true });
const title = ({ frame }: OpenedView) => frame.textContent('h1');
const bodyOf = ({ frame }: OpenedView) => frame.innerText('body');

/** A check that holds for every view of a test, when it ends. */
async function expectNoSecret(view: OpenedView): Promise<void> {
  expectHarmless(view, /^cpq_answer_change$/);
  // The secret is sent with the answer, and is in nothing that the person or the model sees.
  expect(JSON.stringify([view.said, view.told, view.opened])).not.toContain(secret);
  expect(await view.frame.content()).not.toContain(secret);
}

/** An answer that the test gives when it wants to. */
function later() {
  const { held, release } = hold<unknown>();
  return { answer: () => held, give: release };
}

function looksRight(): void {
  test.each(looks)('fits and is accessible: %s', async (_look, options) => {
    for (const result of [asked(), asked({ proposal: undefined }), answerOf('declined')]) {
      const view = await open(result, undefined, options);
      expect(await violations(view)).toEqual([]);
      expect(await fitsIn(view)).toBe(true);
      expect(await unreadable(view)).toEqual([]);
      await expectNoSecret(view);
    }
  });

  test('fits into 320 and into 1400 pixels', async () => {
    const view = await open(asked(), undefined, { width: 320 });
    for (const width of [320, 1400]) {
      await view.page.setViewportSize({ width, height: 900 });
      expect(await fitsIn(view)).toBe(true);
      expect(await unreadable(view)).toEqual([]);
    }
    await expectNoSecret(view);
  });

  test('shows the whole difference, what it is about, and what stays', async () => {
    const view = await open(asked());
    expect(await title(view)).toBe('Change this opportunity?');
    const body = await bodyOf(view);
    for (const text of ['“Laptop refresh”', '“شركة المثال”', '“opp-17”', 'api.example.com'])
      expect(body).toContain(text);
    expect(await texts(view, '.differences tbody th')).toEqual(changes.map(({ label }) => label));
    expect(
      (await texts(view, '.differences .after bdi')).join('\n').replaceAll('\n', ''),
    ).toContain(`6. ${words}`);
    expect(body).toContain('(3 invisible characters)');
    expect(await texts(view, '.differences .before .badge')).toEqual(['right-to-left']);
    expect(await texts(view, '.unlike')).toEqual([unseen]);
    expect(await texts(view, '.remarks li')).toEqual(proposal.remarks);
    expect(body).toContain(proposal.closing);
    await expectNoSecret(view);
  });
}

function answersOnce(): void {
  test('sends the answer once, with the secret and the call, however often it is clicked', async () => {
    const { answer, give } = later();
    const view = await open(asked(), answer);
    await button(view, 'Write it').dblclick();
    await view.frame.getByText('Writing, then reading it back…').waitFor();
    for (const name of ['Write it', 'Do not write'] as const) {
      expect(await button(view, name).getAttribute('aria-disabled')).toBe('true');
      await button(view, name).click({ force: true });
    }
    give(answerOf('written', { change_id: 'chg_1' }));
    await view.frame.getByText('Verified', { exact: true }).waitFor();
    expect(view.calls).toEqual([
      {
        name: 'cpq_answer_change',
        arguments: {
          secret,
          tool: 'cpq_upsert_opportunity',
          arguments: { opportunity_id: 'o-17', stage: 'Proposal out' },
          answer: 'write',
        },
      },
    ]);
    expect(await view.frame.getByRole('button').count()).toBe(0);
    expect((await texts(view, '.differences td')).slice(0, 2)).toEqual([
      '“Discovery”',
      '“Proposal out”',
    ]);
    expect(view.told).toEqual([
      'In the view of the change, the person chose “Write it”.\nThe summary of written.\noutcome: written',
    ]);
    await expectNoSecret(view);
  });

  test('is answered by the keyboard, and never by Enter on the page', async () => {
    const view = await open(asked(), () => answerOf('declined'));
    await view.frame.click('h1');
    await view.page.waitForTimeout(800);
    for (const key of ['Enter', 'Space', 'Enter']) await view.page.keyboard.press(key);
    expect(view.calls).toEqual([]);
    expect(await view.frame.evaluate(() => document.activeElement?.tagName)).not.toBe('BUTTON');
    await view.page.keyboard.press('Tab');
    await view.page.keyboard.press('Tab');
    await view.page.keyboard.press('Enter');
    await view.frame.getByText('Declined', { exact: true }).waitFor();
    expect(view.calls.map((call) => call.arguments?.answer)).toEqual(['decline']);
    expect(await view.frame.evaluate(() => document.activeElement?.className)).toBe('title');
    await expectNoSecret(view);
  });

  test('takes no click before a person can have seen the question', async () => {
    const view = await open(asked());
    // Asked again, and clicked at once, because the machine may be slow.
    const clicked = view.frame.evaluate(
      () =>
        new Promise<void>((resolve) => {
          const timer = setInterval(() => {
            const early = document.querySelectorAll<HTMLElement>('button[aria-disabled]');
            for (const it of early) it.click();
            if (early.length === 0) return;
            clearInterval(timer);
            resolve();
          }, 5);
        }),
    );
    const again = asked({ secret: `${secret}-2` });
    await view.page.evaluate((it) => window.host.result(it), again as never);
    await clicked;
    const isEarly = view.calls.length === 0;
    await button(view, 'Write it').click();
    await view.frame.getByText('Verified', { exact: true }).waitFor();
    expect([isEarly, view.calls.length]).toEqual([true, 1]);
    await expectNoSecret(view);
  });
}

function knowsOutcomes(): void {
  test('does not know what happened where the host returns no answer', async () => {
    const view = await open(asked(), () => Promise.reject(new Error('Connection closed.')));
    await button(view, 'Write it').click();
    await view.frame.getByText('Connection closed.').waitFor();
    expect(await title(view)).toBe('It is not known whether it was written Unknown');
    await view.frame.getByRole('button', { name: 'Ask what became of it' }).click();
    await view.frame.getByText('Asked').waitFor();
    expect(view.said).toEqual(['What became of the last change to an opportunity?']);
    expect(view.told).toEqual([expect.stringMatching(/not known.*cpq_list_changes/)]);
    await expectNoSecret(view);
  });
}

function hostsDiffer(): void {
  test('expires, and says whether nothing was written', async () => {
    const view = await open(asked());
    // Loaded already, so that the time does not pass meanwhile.
    await view.page.evaluate(
      (it) => {
        const expiresAt = new Date(Date.now() + 2_000).toISOString();
        const consent = { ...(it._meta?.['cpq-mcp/consent'] as object), expiresAt };
        return window.host.result({ ...it, _meta: { 'cpq-mcp/consent': consent } });
      },
      asked({ secret: `${secret}-2` }),
    );
    await view.frame.getByText('Expired', { exact: true }).waitFor();
    expect(await title(view)).toBe('Nothing was written Expired');
    expect(view.told).toEqual([expect.stringContaining('Nothing was written.')]);
    await expectNoSecret(view);
    const past = new Date(Date.now() - 1).toISOString();
    const late = await open(asked({ expiresAt: past }));
    await late.frame.getByText('Expired', { exact: true }).waitFor();
    expect(await title(late)).toBe('This question can no longer be answered Expired');
    expect(late.told).toEqual([]);
    await expectNoSecret(late);
  });

  test('a result that is sent again does not ask again', async () => {
    const result = asked();
    const view = await open(result, () => answerOf('declined'));
    await button(view, 'Do not write').click();
    await view.frame.getByText('Declined', { exact: true }).waitFor();
    await view.page.evaluate((it) => window.host.result(it), result as never);
    await view.page.waitForTimeout(200);
    expect(await button(view, 'Write it').count()).toBe(0);
    await expectNoSecret(view);
  });

  const text = 'Nothing yet.\noutcome: not_asked\npreview:\n    > Change it?';
  const textOnly = { content: [{ type: 'text', text }] };

  test.each([
    ['with calls of views refused', asked(), { message: { text: {} } }],
    ['with text only', textOnly, everyCapability],
  ])('a host %s cannot decide here', async (_which, result, capabilities) => {
    const view = await open(result, undefined, { capabilities });
    expect(await bodyOf(view)).toContain(
      'This host does not pass on what is needed to decide here',
    );
    expect(await button(view, 'Write it').count()).toBe(0);
    await expectNoSecret(view);
  });

  test('no text of a record becomes part of the page', async () => {
    const text = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
    const hostile = JSON.parse(
      JSON.stringify(asked()).replaceAll('Discovery', JSON.stringify(text).slice(1, -1)),
    );
    const view = await open(hostile, () => answerOf('written', { summary: text, notes: [text] }));
    expect(await bodyOf(view)).toContain(text);
    await button(view, 'Write it').click();
    await view.frame.waitForSelector('.notes');
    expect(await texts(view, 'img, iframe, a, #view script')).toEqual([]);
    expect(await view.frame.evaluate(() => (window as { hit?: number }).hit)).toBeUndefined();
    await expectNoSecret(view);
  });
}

const { sandbox, address: at } = embeddedTenant({ scale: 0.2, as: 'all' });
const opportunity = shared(async () => anyOpportunity(await at()));
const sent = async () => putsOf(await sandbox()).length;

/** The server, as a host calls it for a model and for a view. `secrets` are those that it gave out. */
function serving(client: Client, secrets: string[]): ViewServer {
  const call = async (name: string, args: unknown) => {
    const result = await client.callTool({ name, arguments: args as Row });
    secrets.push(...[questionFor(result)?.secret ?? []].flat());
    return { result, data: result.structuredContent } as never;
  };
  return {
    tools: async () => (await client.listTools()).tools,
    call,
    ask: call,
    request: (method, params) =>
      client.request({ method, params: params ?? {} }, z.looseObject({})),
  };
}

async function openWith({ client }: Writer, args: Row, name = 'cpq_upsert_opportunity') {
  const secrets: string[] = [];
  const options = { capabilities: everyCapability };
  const view = await openView(serving(client, secrets), name, args, options);
  const done = async () => {
    for (const one of secrets) {
      expect(JSON.stringify([view.said, view.told])).not.toContain(one);
      expect(await view.frame.content()).not.toContain(one);
    }
    await expectNoSecret(view);
  };
  return { ...view, secrets, done };
}

function writesByClick(): void {
  describe('with the server', () => {
    const writer = shared(async () =>
      openWriter(await at(), { consent: 'view', capabilities: showsViews, transport: 'http' }),
    );

    test('writes what the person saw, and takes it back', async () => {
      const { id: opportunity_id, name: before } = await opportunity();
      const name = 'שלום, by a click';
      const description = `First line\n${words}\n${words}`;
      const count = await sent();
      const args = { opportunity_id, name, description, onetime_revenue: 1_234_567.5 };
      const view = await openWith(await writer(), args);
      expect(await texts(view, '.differences tbody th')).toEqual([
        ...['Name', 'Description', 'One-time revenue'],
      ]);
      const body = await bodyOf(view);
      for (const text of [name, words, '1,234,567.50', before, new URL((await at()).baseUrl).host])
        expect(body).toContain(text);
      expect(await sent()).toBe(count);
      await button(view, 'Write it').click();
      await view.frame.getByText('Verified', { exact: true }).waitFor();
      expect(await sent()).toBe(count + 1);
      expect(await recordOf(await at(), opportunity_id)).toMatchObject({ name, description });
      const [, change_id] = /^change_id: (\S+)$/m.exec(view.told.join()) ?? [];
      await view.done();
      const back = await openWith(await writer(), { change_id }, 'cpq_revert_change');
      expect(await title(back)).toBe('Take back a change to this opportunity?');
      await button(back, 'Write it').click();
      await back.frame.getByText('Verified', { exact: true }).waitFor();
      expect((await recordOf(await at(), opportunity_id)).name).toBe(before);
      expect(back.secrets).toHaveLength(1);
      await back.done();
    });

    test('asks again about a record that was changed meanwhile, and is declined', async () => {
      const { id: opportunity_id, externalIdentifier, name: before } = await opportunity();
      const view = await openWith(await writer(), { opportunity_id, name: 'Another name' });
      await editRecord(await at(), externalIdentifier, { name: 'Meanwhile' });
      const count = await sent();
      await button(view, 'Write it').click();
      await view.frame.getByText('This is the difference now.').waitFor();
      expect(await texts(view, '.differences td')).toEqual(['“Meanwhile”', '“Another name”']);
      await button(view, 'Do not write').click();
      await view.frame.getByText('Declined', { exact: true }).waitFor();
      expect([await sent(), view.secrets.length]).toEqual([count, 2]);
      await editRecord(await at(), externalIdentifier, { name: before });
      await view.done();
    });
  });

  test('shows without buttons what a person agreed to in a form of the host', async () => {
    const capabilities = showsViews;
    const how = { consent: 'view', capabilities, person: personAnswers.declines } as const;
    const { id: opportunity_id } = await opportunity();
    const view = await openWith(await openWriter(await at(), how), { opportunity_id, name: 'New' });
    expect(await title(view)).toBe('Nothing was written Declined');
    expect(await view.frame.getByRole('button').count()).toBe(0);
    await view.done();
  });
}

describeWith('chromium', 'the view of a change', () => {
  looksRight();
  answersOnce();
  knowsOutcomes();
  hostsDiffer();
  writesByClick();
});
