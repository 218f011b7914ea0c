import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {
  type AskedBy,
  answerMs,
  type Consent,
  type NotAgreed,
  type Proposal,
  type Question,
} from '../changes/consent.ts';
import type { NameOf } from '../setting-names.ts';
import type { State } from '../state/port.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { counted, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { consentQuestion } from './consent-text.ts';

const questionName = 'consent';

/**
 * Maximum length of a question in characters, about four pages. It contains new values whole, so a longer
 * write is refused.
 */
const maxQuestion = 8_000;

export interface ConsentParts {
  state: Pick<State, 'secret' | 'claim'>;
  /** Host name of the service, shown in the question. */
  host: string;
  /** Whether a confirmation token is allowed if the host cannot ask a person. */
  allowTokens: boolean;
  /** Names settings to the operator. */
  nameOf: NameOf;
}

/**
 * Asks a person for consent to exactly one proposal, through the host if it supports elicitation, or else, where that is
 * allowed, by a preview and a token, which the assistant sends back as `confirm`.
 */
export async function requestConsent(
  proposal: Proposal,
  parts: ConsentParts,
  canAsk: boolean,
  ctx: ServerContext,
  confirm: unknown,
): Promise<Consent> {
  const question = withoutSecrets(consentQuestion(proposal, parts.host));
  const hidden = question.length - maxQuestion;
  if (hidden > 0) return { outcome: 'not_asked', why: tooLong(question.length, hidden) };
  if (!canAsk && !parts.allowTokens)
    return { outcome: 'not_asked', why: tokensNotAllowed(parts.nameOf) };
  const key = await parts.state.secret();
  const how = canAsk ? 'asked' : 'token';
  const sealed = canAsk ? ctx.mcpReq.requestState<string>() : confirm;
  if (typeof sealed === 'string')
    return (
      (canAsk ? disagreement(ctx) : undefined) ?? openSeal(parts.state, key, how, proposal, sealed)
    );
  return {
    outcome: 'not_asked',
    why: wording`this host cannot ask a person`,
    question: { how, message: question, seal: createSeal(key, how, proposal) },
  };
}

/** The question as the host gets it. */
export function elicitConsent({ message, seal }: Question): InputRequiredResult {
  const agree = {
    type: 'boolean' as const,
    title: 'Write exactly this',
    description: 'Nothing is written unless this is checked.',
    default: false,
  };
  const form = inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { agree }, required: ['agree'] },
  });
  return inputRequired({ inputRequests: { [questionName]: form }, requestState: seal });
}

/** The answer of a person who did not tick the box; `undefined` of one who did. */
function disagreement({ mcpReq: { inputResponses } }: ServerContext): NotAgreed | undefined {
  // Own properties only: inherited ones were not sent by the host.
  const isThere = inputResponses !== undefined && Object.hasOwn(inputResponses, questionName);
  const response = isThere
    ? inputResponse(inputResponses, questionName)
    : { kind: 'none' as const };
  if (response.kind !== 'elicit') {
    return refused(wording`the host sent no answer to the question`);
  }
  if (response.action === 'decline') return { outcome: 'declined' };
  if (response.action === 'cancel') return { outcome: 'cancelled' };
  const { content = {} } = response;
  const isTicked = Object.hasOwn(content, 'agree') && content.agree === true;
  return isTicked ? undefined : { outcome: 'declined' };
}

const tokensNotAllowed = (nameOf: NameOf): Wording =>
  wording`this host cannot ask a person, and the operator of this server does not allow tokens instead (${trusted(nameOf('consent'))}=ask)`;

const tooLong = (length: number, hidden: number): Wording =>
  wording`the question would have ${counted(length)} characters and a person is shown at most ${counted(maxQuestion)}, so that ${counted(hidden)} would be hidden; write a shorter text`;

/**
 * `expiry.nonce.subject-code.digest-code.mac`: the last code authenticates the rest. The subject and digest codes distinguish a genuine seal for another
 * change from a forged one.
 */
function createSeal(key: Uint8Array, purpose: AskedBy, proposal: Proposal): string {
  const head = `${(Date.now() + answerMs).toString(36)}.${randomBytes(9).toString('base64url')}`;
  const body = `${head}.${subjectCode(key, proposal)}.${digestCode(key, proposal)}`;
  return `${body}.${hmacCode(key, `${purpose} ${body}`)}`;
}

const subjectCode = (key: Uint8Array, { subject }: Proposal): string =>
  hmacCode(key, `subject ${subject}`);
const digestCode = (key: Uint8Array, { digest }: Proposal): string =>
  hmacCode(key, `digest ${digest}`);

/** Accepts only an unused, unexpired seal of the same proposal. */
async function openSeal(
  state: Pick<State, 'claim'>,
  key: Uint8Array,
  purpose: AskedBy,
  proposal: Proposal,
  sealed: string,
): Promise<Consent> {
  const [expiry = '', nonce = '', subject = '', digest = ''] = sealed.split('.');
  const body = `${expiry}.${nonce}.${subject}.${digest}`;
  // Compared whole: nothing may follow or precede it.
  if (!isEqual(sealed, `${body}.${hmacCode(key, `${purpose} ${body}`)}`))
    return refused(wording`it was not given out by this server, or for another purpose`);
  const expiresAt = Number.parseInt(expiry, 36);
  if (expiresAt <= Date.now()) return refused(wording`it is older than ten minutes`);
  if (!isEqual(subject, subjectCode(key, proposal)))
    return refused(wording`it was given for another change`);
  if (!isEqual(digest, digestCode(key, proposal))) return { outcome: 'moved' };
  return (await state.claim(`consent ${nonce}`, expiresAt))
    ? { outcome: 'agreed', how: purpose }
    : refused(wording`it was used before`);
}

const refused = (why: Wording): NotAgreed => ({ outcome: 'refused', why });

const hmacCode = (key: Uint8Array, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64url').slice(0, 22);

function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
