import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import {
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {
  type AskedBy,
  answerMs,
  type Consent,
  type ConsentSetting,
  type NotAgreed,
  type Proposal,
  type Question,
} from '../changes/consent.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { counted, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import type { HostClient } from './client.ts';
import { consentQuestion, questionPieces } from './consent-text.ts';
import { callIn, sessionHeader } from './session.ts';
import { codeOf, isSigned, signed } from './signature.ts';
import type { CallParts } from './tool-run.ts';

const questionName = 'consent';

/** In characters, about four pages. It contains new values whole, so a longer write is refused. */
const maxQuestion = 8_000;

type AskingParts = Pick<CallParts, 'tenant' | 'consent' | 'nameOf'>;

/** What a host sent for a form, and the seal of its question; empty if it was not asked. */
export interface FormAnswer {
  seal: string | undefined;
  responses: Parameters<typeof inputResponse>[0];
}

/** A call that has to be agreed to, with what it brings of an earlier question. */
export interface AskingCall {
  tool: string;
  /** With the token of a preview as `confirm`. */
  args: Record<string, unknown>;
  client: HostClient;
  formAnswer: FormAnswer;
  /** What a person chose in a view. */
  chosen?: { secret: string; isAgreed: boolean } | undefined;
}

/**
 * Asks a person for consent to exactly one proposal: in a form if the host supports it, or else in a view, whose secret no
 * model is shown, or else, where that is allowed, by a preview and a token, which the assistant sends back as `confirm`.
 */
export async function requestConsent(
  proposal: Proposal,
  parts: AskingParts,
  call: AskingCall,
): Promise<Consent> {
  const { tenant } = parts;
  const how = wayToAsk(call, parts.consent);
  const hidden = consentQuestion(proposal, tenant.site.host).length - maxQuestion;
  if (hidden > 0)
    return {
      outcome: 'not_asked',
      why: wording`the question would have ${counted(maxQuestion + hidden)} characters and a person is shown at most ${counted(maxQuestion)}, so that ${counted(hidden)} would be hidden; write a shorter text`,
    };
  if (how === undefined) return { outcome: 'not_asked', why: noWay(parts) };
  const sealed = sealOf(how, call);
  if (sealed === undefined) {
    const question = await createQuestion(how, proposal, tenant, call);
    return { outcome: 'not_asked', why: wording`this host cannot ask a person`, question };
  }
  const no = how === 'asked' ? disagreement(call.formAnswer.responses) : undefined;
  if (no === noAnswer) return no;
  // A no counts once, too: a second answer to one question is refused.
  const isAgreed = !no && call.chosen?.isAgreed !== false;
  const consent = await openSeal(tenant.writes.tokens, how, proposal, sealed, isAgreed);
  return no && consent.outcome === 'declined' ? no : consent;
}

function wayToAsk({ client, chosen }: AskingCall, allowed: ConsentSetting): AskedBy | undefined {
  if (chosen) return allowed === 'ask' ? undefined : 'view';
  if (client.asks) return 'asked';
  if (allowed === 'ask') return undefined;
  if (client.showsViews) return 'view';
  return allowed === 'token' ? 'token' : undefined;
}

/** What answers an earlier question; `undefined` if there was none. */
function sealOf(how: AskedBy, { args, chosen, formAnswer }: AskingCall): string | undefined {
  if (how === 'view') return chosen?.secret;
  const given = how === 'asked' ? formAnswer.seal : args.confirm;
  return typeof given === 'string' ? given : undefined;
}

export async function createQuestion(
  how: AskedBy,
  proposal: Proposal,
  { site: { host }, writes }: Tenant,
  { tool, args }: AskingCall,
): Promise<Question> {
  const message = withoutSecrets(consentQuestion(proposal, host));
  const seal = createSeal(await writes.tokens.secret(), how, proposal);
  const asked = { how, message, seal };
  if (how !== 'view') return asked;
  const shown = withoutSecrets({ question: message, proposal: questionPieces(proposal, host) });
  const expiresAt = new Date(Date.now() + answerMs).toISOString();
  const { confirm: _, ...others } = args;
  return { ...asked, forView: { secret: seal, expiresAt, tool, arguments: others, ...shown } };
}

/** The question as a modern host gets it, which repeats the call with the answer. */
export const elicitConsent = ({ message, seal }: Question): InputRequiredResult =>
  inputRequired({
    inputRequests: { [questionName]: inputRequired.elicit(formOf(message)) },
    requestState: seal,
  });

/** Asks a host of the legacy era, on the connection of the call. One that sends nothing valid has not answered. */
export async function askHost(
  { message, seal }: Question,
  server: Server,
  ctx: ServerContext,
  { updates }: Tenant,
): Promise<FormAnswer> {
  const params = { ...formOf(message), mode: 'form' as const };
  const { mcpReq, http } = ctx;
  try {
    const options = { timeout: answerMs, signal: mcpReq.signal };
    const response = http
      ? await askOnStream(params, server, ctx, updates)
      : await mcpReq.send({ method: 'elicitation/create', params }, options);
    return { seal, responses: { [questionName]: response } };
  } catch {
    mcpReq.signal.throwIfAborted();
    return { seal, responses: {} };
  }
}

/**
 * Asks over HTTP, on the event stream of the call. The answer arrives as another request, at any replica, with the id of
 * the question and from the same caller; so does that the host cancels the call. @throws the reason of the signal, or after
 * the time for an answer
 */
async function askOnStream(
  params: ElicitRequestFormParams,
  server: Server,
  { mcpReq, http }: ServerContext,
  updates: Tenant['updates'],
): Promise<unknown> {
  const id = randomBytes(16).toString('base64url');
  const answered = [id, callIn(http?.req?.headers.get(sessionHeader), mcpReq.id)];
  const answers = new EventEmitter();
  const unsubscribe = updates.subscribe(({ answer }) => {
    if (answer && answered.includes(answer.to) && answer.from === http?.authInfo?.clientId)
      answers.emit('answer', answer.result);
  });
  try {
    const signal = AbortSignal.any([mcpReq.signal, AbortSignal.timeout(answerMs)]);
    const question = { jsonrpc: '2.0', id, method: 'elicitation/create', params } as const;
    const [[result]] = await Promise.all([
      once(answers, 'answer', { signal }),
      server.transport?.send(question, { relatedRequestId: mcpReq.id }),
    ]);
    return result;
  } finally {
    unsubscribe();
  }
}

function formOf(message: string): Omit<ElicitRequestFormParams, 'mode'> {
  const agree = {
    type: 'boolean' as const,
    title: 'Write exactly this',
    description: 'Nothing is written unless this is checked.',
    default: false,
  };
  return {
    message,
    requestedSchema: { type: 'object', properties: { agree }, required: ['agree'] },
  };
}

/** The answer of a person who did not tick the box; `undefined` of one who did. */
function disagreement(inputResponses: FormAnswer['responses']): NotAgreed | undefined {
  // Own properties only: inherited ones were not sent by the host.
  if (!inputResponses || !Object.hasOwn(inputResponses, questionName)) return noAnswer;
  const response = inputResponse(inputResponses, questionName);
  if (response.kind !== 'elicit') return noAnswer;
  if (response.action === 'decline') return { outcome: 'declined' };
  if (response.action === 'cancel') return { outcome: 'cancelled' };
  const content = response.content ?? {};
  // An accepted form without the answer was sent by a host that asked nobody, or lost what they said.
  if (!Object.hasOwn(content, 'agree')) return noAnswer;
  return content.agree === true ? undefined : { outcome: 'declined' };
}

const noAnswer: NotAgreed = {
  outcome: 'refused',
  why: wording`the host sent no answer to the question`,
};

/** Why nobody can be asked, and what the operator can do. */
function noWay({ consent: allowed, nameOf }: AskingParts): Wording {
  const setting = trusted(nameOf('consent'));
  return allowed === 'ask'
    ? wording`this host cannot ask a person in a form, and the operator of this server allows nothing else (${setting}=ask)`
    : wording`this host can neither ask a person in a form nor show them a view; an operator whose host itself asks a person before every call may set ${setting}=token`;
}

/**
 * `expiry.nonce.subject-code.digest-code.mac`: the last code authenticates the rest. The subject and digest codes distinguish a genuine seal for another
 * change from a forged one.
 */
function createSeal(key: Uint8Array, purpose: AskedBy, proposal: Proposal): string {
  const head = `${(Date.now() + answerMs).toString(36)}.${randomBytes(9).toString('base64url')}`;
  return signed(key, purpose, [head, ...codesOf(key, proposal)].join('.'));
}

const codesOf = (key: Uint8Array, { subject, digest }: Proposal): string[] =>
  [`subject ${subject}`, `digest ${digest}`].map((text) => codeOf(key, text));

/** Accepts only an unused, unexpired seal of the same proposal. A person who does not agree uses it up. */
async function openSeal(
  state: Tenant['writes']['tokens'],
  purpose: AskedBy,
  proposal: Proposal,
  sealed: string,
  isAgreed: boolean,
): Promise<Consent> {
  const key = await state.secret();
  const [expiry = '', nonce = '', subject = '', digest = ''] = sealed.split('.');
  // Compared whole: nothing may follow or precede it.
  if (!isSigned(key, purpose, [expiry, nonce, subject, digest].join('.'), sealed))
    return refused(wording`it was not given out by this server, or for another purpose`);
  const expiresAt = Number.parseInt(expiry, 36);
  if (expiresAt <= Date.now()) return refused(wording`it is older than ten minutes`);
  const [sameSubject, sameDigest] = codesOf(key, proposal);
  if (subject !== sameSubject) return refused(wording`it was given for another change`);
  if (isAgreed && digest !== sameDigest) return { outcome: 'moved' };
  if (!(await state.claim(`consent ${nonce}`, expiresAt)))
    return refused(wording`it was used before`);
  return isAgreed ? { outcome: 'agreed', how: purpose } : { outcome: 'declined' };
}

const refused = (why: Wording): NotAgreed => ({ outcome: 'refused', why });
