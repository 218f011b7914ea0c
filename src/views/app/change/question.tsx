/** The question of a change, and the two buttons that answer it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../../values.ts';
import { useFormats } from '../shell/format.ts';
import type { Host } from '../shell/view.ts';
import {
  type ChangeData,
  changeOf,
  hasExpired,
  type Proposal,
  proposedRows,
  type Question,
} from './data.ts';
import { Differences, type Level, Text, Title } from './parts.tsx';

/** A button that just appeared under a finger or a pointer does nothing yet. */
const armedAfterMs = 700;
/** The server answers long before, whether or not the service did. */
const answerMs = 120_000;

type Answer = 'write' | 'decline';
const buttonTexts = { write: 'Write it', decline: 'Do not write' } as const;

interface Props {
  data: ChangeData & { question: Question };
  host: Host;
  level: Level;
  /** Takes what happened, and what the model is told of it. */
  settle(next: ChangeData, told?: string): void;
}

export function QuestionForm({ data, host, level, settle }: Props) {
  const { question, answer } = data;
  const { time } = useFormats();
  const { sent, ready, decide } = useDecision(data, host, settle);
  const button = (choice: Answer) => (
    <button
      type="button"
      class={choice === 'write' ? 'primary' : ''}
      aria-disabled={!ready || undefined}
      onClick={() => decide(choice)}
    >
      {buttonTexts[choice]}
    </button>
  );
  const waiting = sent === 'write' ? 'Writing, then reading it back…' : 'Telling the server…';
  return (
    <>
      {answer.outcome === 'moved' && (
        <p class="remarks" role="alert">
          Nothing was written: the opportunity was changed meanwhile. This is the difference now.
        </p>
      )}
      {question.proposal ? (
        <Proposed proposal={question.proposal} level={level} />
      ) : (
        <>
          <Title level={level}>Write this change?</Title>
          <p class="whole">
            <Text text={question.question} />
          </p>
        </>
      )}
      <div class="decision">
        {button('write')}
        {button('decline')}
        <p role="status">
          {sent ? waiting : `Nothing is written yet. Decide by ${time(question.expiresAt)}.`}
        </p>
      </div>
    </>
  );
}

/** Sends one answer, once. */
function useDecision({ question }: Props['data'], host: Host, settle: Props['settle']) {
  const [sent, setSent] = useState<Answer>();
  const [armed, setArmed] = useState(false);
  // A second click may come before the next drawing.
  const decided = useRef(false);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(true), armedAfterMs);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    const wasLate = hasExpired(question);
    const expire = () => {
      if (!decided.current) settle(...expiry(wasLate));
      decided.current = true;
    };
    const timer = setTimeout(expire, Date.parse(question.expiresAt) - Date.now());
    return () => clearTimeout(timer);
  }, []);
  const decide = (choice: Answer) => {
    if (decided.current || !armed) return;
    decided.current = true;
    setSent(choice);
    void answerQuestion(question, host, choice, settle);
  };
  return { sent, ready: armed && !sent, decide };
}

async function answerQuestion(
  { secret, tool, arguments: args, proposal }: Question,
  host: Host,
  choice: Answer,
  settle: Props['settle'],
): Promise<void> {
  const said = `In the view of the change, the person chose “${buttonTexts[choice]}”.`;
  const fail = (reason: string) => settle(...noAnswer(choice, reason, said));
  const timer = setTimeout(() => fail('No answer came within two minutes.'), answerMs);
  try {
    const call = { secret, tool, arguments: args, answer: choice };
    const next = changeOf(await host.call('cpq_answer_change', call), proposal);
    settle(next, `${said}\n${next.text}`);
  } catch (error) {
    fail(messageOf(error));
  } finally {
    clearTimeout(timer);
  }
}

type Settled = Parameters<Props['settle']>;

const settled = (outcome: ChangeData['answer']['outcome'], summary: string): ChangeData => ({
  answer: { outcome, summary },
  text: summary,
});

function expiry(wasLate: boolean): Settled {
  if (wasLate) {
    // It may have been answered before, when the conversation was shown the last time.
    const summary =
      'It is older than ten minutes. If it was not answered in time, nothing was written: ask the assistant what became of it.';
    return [settled('stale', summary)];
  }
  const summary =
    'The question is older than ten minutes, and nobody answered it. To write the change, ask the assistant again.';
  return [settled('expired', summary), `Nothing was written. ${summary}`];
}

function noAnswer(choice: Answer, reason: string, said: string): Settled {
  if (choice === 'decline') {
    const summary = `The server could not be told (${reason}), but without your consent nothing is written.`;
    return [settled('not_sent', summary), `${said} Nothing was written.`];
  }
  const summary = `The host returned no answer of the server: ${reason} Ask the assistant whether the change was written.`;
  const advice = 'Whether it was written is not known: read it with cpq_list_changes.';
  return [settled('lost', summary), `${said} ${advice}`];
}

const titles: Readonly<Record<Proposal['what'], string>> = {
  create: 'Create this opportunity?',
  change: 'Change this opportunity?',
  revert: 'Take back a change to this opportunity?',
};

function Proposed({ proposal, level }: { proposal: Proposal; level: Level }) {
  const { what, opportunity, company, externalId, host, remarks, closing } = proposal;
  return (
    <>
      <header>
        <Title level={level}>{titles[what] ?? titles.change}</Title>
        <p class="subject">
          <strong>
            <Text text={opportunity} />
          </strong>
          {company !== undefined && (
            <>
              {' of '}
              <Text text={company} />
            </>
          )}
        </p>
        <p class="about">
          External identifier <Text text={externalId} />, at <bdi>{host}</bdi>
        </p>
      </header>
      <Differences
        title="What changes"
        columns={['Is', what === 'create' ? 'Value' : 'Will be']}
        rows={proposedRows(proposal)}
      />
      {remarks.length > 0 && (
        <ul class="remarks plain" aria-label="Remarks">
          {remarks.map((remark) => (
            <li key={remark}>
              <Text text={remark} />
            </li>
          ))}
        </ul>
      )}
      <p class="about">{closing}</p>
    </>
  );
}
