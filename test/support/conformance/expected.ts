import type { Outcome, Revision } from './suite.ts';

type Checks = Outcome['failed'];

/** Scenarios with one check of the same name. */
const named = (...scenarios: readonly string[]): Checks =>
  Object.fromEntries(scenarios.map((name) => [name, [name]]));

/**
 * The tasks extension, which is optional and not scored. It is not offered, because no call takes long enough to
 * need it.
 */
const tasks: Checks = {
  'tasks-capability-negotiation': [
    'sep-2663-server-rejects-undeclared-client',
    'sep-2663-tasks-methods-non-declaring',
    'tasks-extension-advertised',
    'tasks-per-request-meta-opt-in',
  ],
  'tasks-dispatch-and-envelope': [
    'sep-2663-durable-create-strong-consistency',
    'sep-2663-legacy-task-param-ignored',
    'sep-2663-tasks-get-invalid-task-id-32602',
    'tasks-immediate-result-shortcut',
    'tasks-result-type-complete-on-non-task-responses',
    'tasks-server-directed-creation-no-hint',
  ],
  'tasks-lifecycle': [
    'sep-2663-cancel-ack-empty-result',
    'sep-2663-result-type-task-on-create',
    'sep-2663-tasks-get-status-completed',
    'sep-2663-tasks-get-status-failed',
    'sep-2663-tasks-get-status-working',
    'sep-2663-tool-error-uses-completed-status',
    'tasks-cancel-terminal-idempotent-ack',
    'tasks-sync-tool-call',
  ],
  'tasks-mrtr-composition': ['sep-2663-mrtr-synchronous-before-task-creation'],
  'tasks-mrtr-input': [
    'sep-2663-tasks-get-status-input-required',
    'tasks-mrtr-partial-fulfillment',
    'tasks-mrtr-tasks-update-resumes',
  ],
  'tasks-request-headers': [
    'sep-2663-routing-headers-accepted-on-tasks-get',
    'sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get',
    'tasks-headers-tolerate-mcp-method-on-tools-call',
  ],
  'tasks-request-state-removal': ['tasks-request-state-removal-setup'],
  'tasks-required-task-error': ['sep-2663-server-returns-missing-capability-when-required'],
  'tasks-wire-fields': [
    'tasks-no-early-ttl-expiry',
    'tasks-no-related-task-meta-on-inlined-result',
    'tasks-wire-field-renames',
  ],
};

/** Fixtures that the suite expects in both revisions. */
const fixturesOfBoth: Checks = {
  ...named(
    'prompts-get-embedded-resource',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-with-image',
    'resources-read-binary',
    'resources-read-text',
    'resources-templates-read',
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-error',
    'tools-call-image',
    'tools-call-mixed-content',
    'tools-call-simple-text',
    'tools-call-with-progress',
  ),
  'json-schema-2020-12': ['json-schema-2020-12-tool-found'],
};

const fixtures: Record<Revision, Checks> = {
  '2025-11-25': {
    ...fixturesOfBoth,
    ...named('tools-call-elicitation', 'tools-call-sampling', 'tools-call-with-logging'),
    'elicitation-sep1034-defaults': ['elicitation-sep1034-general'],
    'elicitation-sep1330-enums': ['elicitation-sep1330-general'],
  },
  '2026-07-28': {
    ...fixturesOfBoth,
    'http-custom-header-server-validation': [
      'sep-2243-server-decode-base64',
      'sep-2243-server-no-xmcp-tool',
      'sep-2243-server-reject-invalid-param-chars',
      'sep-2243-server-reject-param-mismatch',
      'sep-2243-server-validate-param-match',
    ],
    'input-required-result-basic-elicitation': ['sep-2322-elicitation-incomplete'],
    'input-required-result-basic-list-roots': ['sep-2322-list-roots-incomplete'],
    'input-required-result-basic-sampling': ['sep-2322-sampling-incomplete'],
    'input-required-result-capability-check': ['sep-2322-respect-client-capabilities'],
    'input-required-result-multi-round': ['sep-2322-multi-round-r1'],
    'input-required-result-multiple-input-requests': ['sep-2322-multiple-inputs-incomplete'],
    'input-required-result-non-tool-request': ['sep-2322-non-tool-incomplete'],
    'input-required-result-request-state': ['sep-2322-request-state-incomplete'],
    'input-required-result-result-type': ['sep-2322-result-type-included'],
    'input-required-result-tampered-state': ['sep-2322-reject-tampered-state'],
    'server-stateless': [
      'sep-2575-http-server-no-independent-requests-on-stream',
      'sep-2575-missing-capability-http-400',
      'sep-2575-server-no-log-without-loglevel',
      'sep-2575-server-rejects-undeclared-capability',
    ],
  },
};

/**
 * Features of the legacy revision that this server does not offer: log messages, which the modern revision removes,
 * and subscriptions.
 */
const notOffered: Checks = named(
  'logging-set-level',
  'resources-subscribe',
  'resources-unsubscribe',
);

/** Checks that fail with the fixtures of the suite. */
export const failsWithFixtures: Record<Revision, Checks> = {
  '2025-11-25': {},
  '2026-07-28': tasks,
};

/** Checks that fail with the built server. */
export const failsAsShipped: Record<Revision, Checks> = {
  '2025-11-25': { ...fixtures['2025-11-25'], ...notOffered },
  '2026-07-28': { ...fixtures['2026-07-28'], ...tasks },
};
