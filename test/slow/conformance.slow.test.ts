import { expect, test } from 'vitest';
import { openGate } from '../../src/hosts/access/gate.ts';
import { serveHttp } from '../../src/hosts/http.ts';
import { failsAsShipped, failsWithFixtures } from '../support/conformance/expected.ts';
import { conformanceFixtures } from '../support/conformance/fixtures.ts';
import { type Revision, runConformance } from '../support/conformance/suite.ts';
import { startServer } from '../support/hosts.ts';
import { httpOptions } from '../support/http-options.ts';
import { describeWithNpm } from '../support/npm.ts';
import { closing, shared } from '../support/shared.ts';

/**
 * The conformance suite of the protocol. Most of its scenarios need tools of their own, so it runs twice: with the
 * built server, and with these tools behind the same HTTP frontend. The failures must be exactly those that are
 * listed.
 */

const revisions: readonly Revision[] = ['2025-11-25', '2026-07-28'];

const serverWith = (env: Record<string, string>) =>
  shared(async () => (await startServer({ env })).url);

/** The server must pass and fail the same checks whether the fast path answers or the SDK alone. */
const asShipped = {
  'as shipped': serverWith({}),
  'as shipped, without the fast path': serverWith({ CPQ_FAST_PATH: 'off' }),
};

const withFixtures = shared(async () => {
  const endpoint = conformanceFixtures();
  const gate = openGate(() => endpoint);
  return closing(await serveHttp(gate, httpOptions())).url;
});

describeWithNpm('the conformance suite', () => {
  for (const [what, url] of Object.entries(asShipped)) {
    test.each(revisions)(`${what}, revision %s`, async (revision) => {
      const { totals, failed } = await runConformance(await url(), revision);
      expect(failed).toEqual(failsAsShipped[revision]);
      say(`${revision} ${what}`, totals);
    });
  }

  test.each(revisions)('with its fixtures, revision %s', async (revision) => {
    const { totals, failed } = await runConformance(await withFixtures(), revision);
    expect(failed).toEqual(failsWithFixtures[revision]);
    expect(totals.WARNING).toBe(revision === '2025-11-25' ? sessionWarnings : 0);
    say(`${revision} with fixtures`, totals);
  });
});

/** The suite warns in the legacy era because this server has no sessions and no resumable streams. */
const sessionWarnings = 4;

function say(what: string, { SUCCESS, FAILURE, WARNING, SKIPPED }: Record<string, number>): void {
  const rest = `${WARNING} warnings, ${SKIPPED} skipped`;
  process.stdout.write(`Conformance ${what}: ${SUCCESS} passed, ${FAILURE} failed, ${rest}\n`);
}
