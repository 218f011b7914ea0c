import type { Behaviour } from './behaviour.ts';
import { type ErrorKind, faults } from './faults.ts';

export interface WritePreset extends Behaviour {
  /** Whether the service has stored the change, whatever it answered. */
  readonly applied: boolean;
  /** `unknown`: the client cannot know from the answer, and must say so or read the record back. */
  readonly expect: 'ok' | 'error' | 'unknown';
  readonly kinds?: readonly ErrorKind[];
}

const refused = (...kinds: ErrorKind[]) => ({ applied: false, expect: 'error', kinds }) as const;
const lost = (...kinds: ErrorKind[]) => ({ applied: false, expect: 'unknown', kinds }) as const;
const stored = (...kinds: ErrorKind[]) => ({ applied: true, expect: 'unknown', kinds }) as const;

const presets = {
  none: { applied: true, expect: 'ok' },
  'omitted-cleared': { omitted: 'cleared', applied: true, expect: 'ok' },
  'key-missing': { status: { code: 401 }, ...refused('unauthorised') },
  'key-wrong': { keys: new Set<string>(), ...refused('forbidden', 'unauthorised') },
  'no-permission': { status: { code: 403, message: 'Not permitted' }, ...refused('forbidden') },
  '400-messages': {
    status: { code: 400, message: ['name must be a string'] },
    ...refused('rejected'),
  },
  '404': { status: { code: 404 }, ...refused('not found', 'not the API') },
  '429-one-second': { status: { code: 429, retryAfter: '1' }, ...refused('rate limited') },
  '307-other-host': { redirect: { code: 307, to: 'other' }, ...lost('not the API') },
  '303-after-applying': { redirect: { code: 303, to: 'other' }, ...stored('not the API') },
  'reset-before-reading': {
    write: 'unread',
    cut: { at: 'start', how: 'reset' },
    ...lost('unavailable'),
  },
  'close-before-reading': {
    write: 'unread',
    cut: { at: 'start', how: 'close' },
    ...lost('unavailable'),
  },
  'hang-before-reading': {
    write: 'unread',
    cut: { at: 'start', how: 'hang' },
    ...lost('timed out'),
  },
  'reset-without-applying': {
    write: 'unapplied',
    cut: { at: 'start', how: 'reset' },
    ...lost('unavailable'),
  },
  '500-without-applying': {
    write: 'unapplied',
    status: { code: 500 },
    ...lost('unavailable'),
  },
  /** Answers as if it had stored the change. */
  'ok-without-applying': { write: 'unapplied', applied: false, expect: 'unknown' },
  'reset-after-applying': { cut: { at: 'start', how: 'reset' }, ...stored('unavailable') },
  'close-after-applying': { cut: { at: 'start', how: 'close' }, ...stored('unavailable') },
  'hang-after-applying': { cut: { at: 'start', how: 'hang' }, ...stored('timed out') },
  'reset-in-answer': {
    cut: { at: 'body', how: 'reset' },
    ...stored('unavailable', 'bad response'),
  },
  'close-in-answer': {
    cut: { at: 'body', how: 'close' },
    ...stored('unavailable', 'bad response'),
  },
  '500-after-applying': { status: { code: 500 }, ...stored('unavailable') },
  '502-html-after-applying': { status: { code: 502, html: true }, ...stored('unavailable') },
  'malformed-answer': { raw: faults['bad-chunk'].raw, ...stored('bad response') },
  'answer-in-another-protocol': {
    raw: faults['another-protocol'].raw,
    ...stored('bad response'),
  },
  'truncated-answer': { truncate: 0.6, ...stored('bad response') },
  'html-answer': { instead: faults['html-200'].instead, ...stored('not the API') },
  'empty-answer': { instead: { text: '' }, ...stored('bad response') },
  'other-answer': { instead: { text: '{"ok":true}' }, ...stored('bad response') },
  'text-answer': { instead: { text: '"done"' }, ...stored('bad response') },
  'other-record-answer': {
    instead: { text: '{"id":"SomeOtherOpportunity","name":"Some other"}' },
    ...stored('bad response'),
  },
} satisfies Record<string, WritePreset>;

export type WriteFaultName = keyof typeof presets;

/** Every fault of the upsert by its name. */
export const writeFaults: Readonly<Record<WriteFaultName, WritePreset>> = presets;

export const writeFaultNames = Object.keys(presets) as WriteFaultName[];
