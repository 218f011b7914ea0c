import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { common } from './vitest.config.ts';

/** Files of the quick suite that run only a sample of their cases there (`test/support/sampling.ts`). */
export const sampled = [
  'test/access/key-secrecy.test.ts',
  'test/access/names.test.ts',
  'test/access/tenant-separation.test.ts',
  'test/api/faults.test.ts',
  'test/briefs/properties.test.ts',
  'test/commands/config.test.ts',
  'test/compatibility/fields-file.test.ts',
  'test/consent/adversary.test.ts',
  'test/consent/answers.test.ts',
  'test/consent/faults.test.ts',
  'test/consent/look-alikes.test.ts',
  'test/consent/properties.test.ts',
  'test/consent/shown.test.ts',
  'test/history/changes.test.ts',
  'test/history/course.test.ts',
  'test/hosts/fast-path-http.test.ts',
  'test/hosts/fast-path-stdio.test.ts',
  'test/operating/fuzz.test.ts',
  'test/reading/memoized-answers.test.ts',
  'test/reading/paging.test.ts',
  'test/reading/updates.test.ts',
  'test/reading/walks.test.ts',
  'test/sandbox/seeded-rows.test.ts',
  'test/text/hardening.test.ts',
  'test/tools/arguments.test.ts',
  'test/tools/catalog.test.ts',
  'test/tools/errors.test.ts',
  'test/tools/export.test.ts',
  'test/tools/tools.test.ts',
];

/** They run over fewer seeds in the quick suite (`describeTenants`). */
const ofSeveralTenants = ['test/oracle/*.test.ts'];

/** The suites of the protocol, run once more with every request answered by the SDK. */
const ofProtocol = [
  'test/access/grants.test.ts',
  'test/tools/arguments.test.ts',
  'test/consent/answers.test.ts',
  'test/consent/question.test.ts',
  'test/hosts/http.test.ts',
  'test/hosts/lifecycle.test.ts',
  'test/tools/tools.test.ts',
];

const globalSetup = ['test/support/build.ts'];

const takesMinutes = /compatibility-difference|views-(?:browser|change|tenants)|soak|adversary/;

/** What takes minutes begins first; otherwise one worker would run it at the end, beside idle ones. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => Number(takesMinutes.test(moduleId));
    return (await super.sort(files)).sort((a, b) => isLong(b) - isLong(a));
  }
}

/** Suites that take minutes, or need more than Node and npm. */
export default defineConfig({
  ...common,
  test: {
    ...common.test,
    env: { CPQ_TEST_ALL_CASES: '1' },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        // As in the quick suite, a process imports the modules once for all its files.
        test: {
          name: 'sampled',
          globalSetup,
          isolate: false,
          include: [...sampled, ...ofSeveralTenants],
        },
      },
      {
        extends: true,
        test: {
          name: 'no-fast-path',
          globalSetup,
          isolate: false,
          env: { CPQ_FAST_PATH: 'off', CPQ_TEST_ALL_CASES: '' },
          include: ofProtocol,
        },
      },
      { extends: true, test: { name: 'slow', globalSetup, include: ['test/**/*.slow.test.ts'] } },
    ],
  },
});
