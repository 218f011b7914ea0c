import { describe, expect, test } from 'vitest';
import { openOverService, reportOf } from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { answers, PlayedHost, playedHosts } from '../support/played-host.ts';
import { shared } from '../support/shared.ts';
import { questionFor } from '../support/view-client.ts';

/** Recorded hosts, each in every era and transport that it has. */

const opened = shared(() => openOverService({ consent: 'view', person: undefined }));
const writer = async () => (await opened()).it;
const written = async () => (await opened()).puts();

let count = 0;
const another = () => {
  count += 1;
  return { external_id: 'opp-3', name: `Named in a recorded host ${count}` };
};
const upsert = async (host: PlayedHost, args: Row) => {
  const result = await host.call('cpq_upsert_opportunity', args);
  return { result, ...reportOf(result as never) };
};

describe.each(playedHosts)('$title', ({ profile, era, way }) => {
  const { best } = profile;
  const connect = async () => PlayedHost.connect(await writer(), profile, era, way);

  test('gets the best way to ask that it has, and nothing is written before', async () => {
    const host = await connect();
    const sent = await written();
    host.replies = answers.declines;
    const { result, outcome, text } = await upsert(host, another());
    expect(await written()).toBe(sent);
    expect(host.asked.length > 0).toBe(best === 'form');
    if (best === 'form') return;
    expect(outcome).toBe('not_asked');
    expect(text).toMatch(
      best === 'view' ? /agree in the view/ : /neither ask .* CPQ_CONSENT=token/,
    );
    const isShown = best === 'view' && !profile.stripsMeta;
    expect(questionFor(result as never) !== undefined).toBe(isShown);
  });

  test('writes what a person agreed to, once', async () => {
    const host = await connect();
    const [args, sent] = [another(), await written()];
    host.replies = answers.agrees;
    const { result, outcome } = await upsert(host, args);
    const question = questionFor(result as never);
    if (question) {
      const { secret, tool, arguments: given } = question;
      expect(host.shown(result)).not.toContain(secret);
      const click = { secret, tool, arguments: given, answer: 'write' };
      expect(reportOf((await host.call('cpq_answer_change', click)) as never).outcome).toBe(
        'written',
      );
    } else if (best === 'form') expect(outcome).toBe('written');
    expect(await written()).toBe(sent + (best === 'form' || question ? 1 : 0));
  });
});

const forms = playedHosts.filter(({ profile }) => profile.best === 'form');

describe.each(forms)('$title, where the host', ({ profile, era, way }) => {
  const nothing = /the host sent no answer to the question/;
  test.each<[keyof typeof answers, RegExp, outcome?: string]>([
    ['declines', /did not agree/, 'declined'],
    ['accepts without the tick', /did not agree/, 'declined'],
    ['declines, then agrees', /did not agree|used before/],
    ['cancels', /closed the question/, 'cancelled'],
    ['accepts with content null', nothing],
    ['accepts without content', nothing],
    ['accepts an empty form', nothing, 'refused'],
    ['has no action', nothing],
    ['does not know the method', nothing],
  ])('%s: nothing is written, and a sentence says so', async (does, sentence, outcome) => {
    const it = await writer();
    const host = await PlayedHost.connect(it, profile, era, way);
    const [sent, journal] = [await written(), await it.journal()];
    host.replies = answers[does];
    const answer = await upsert(host, another());
    expect(answer.text).toMatch(sentence);
    expect(answer.text).toMatch(/Nothing was written/);
    expect(answer).toMatchObject({ isError: false, ...(outcome && { outcome }) });
    expect(answer).not.toHaveProperty('confirm');
    expect(await written()).toBe(sent);
    expect(await it.journal()).toEqual(journal);
  });
});
