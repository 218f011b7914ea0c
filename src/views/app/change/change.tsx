/** A change that a person decides here, or what happened to it. Also for panels of other views. */
import './style.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Ask, Badge, Notes } from '../shell/parts.tsx';
import type { Host } from '../shell/view.ts';
import { answeredTables, type ChangeData, endingOf, isUndecidable } from './data.ts';
import { Differences, type Level, Text, Title } from './parts.tsx';
import { QuestionForm } from './question.tsx';

interface Props {
  data: ChangeData;
  host: Host;
  level?: Level;
  /** Called with what came of the question. */
  settled?: ((outcome: ChangeData['answer']['outcome']) => void) | undefined;
}

export function Change({ data: first, host, level = 'h2', settled }: Props) {
  const [data, setData] = useState(first);
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    // The buttons are gone, so the focus goes to what is shown instead; never at first, and never from the host's page.
    if (data !== first && document.hasFocus())
      section.current?.querySelector<HTMLElement>('.title')?.focus();
  }, [data]);
  const settle = (next: ChangeData, told?: string) => {
    setData(next);
    if (told !== undefined) void host.tell(told);
    settled?.(next.answer.outcome);
  };
  const { question } = data;
  return (
    <section class="change" ref={section}>
      {question && host.canRead ? (
        <QuestionForm
          key={question.secret}
          data={{ ...data, question }}
          {...{ host, level, settle }}
        />
      ) : (
        <Outcome data={data} host={host} level={level} />
      )}
    </section>
  );
}

const lacking =
  'This host does not pass on what is needed to decide here, so nothing was written. Another host can, or the operator of the server can choose another way of consent.';

const unknownOutcomes: readonly unknown[] = [
  'lost',
  'stale',
  'refused',
  'cannot_tell',
  'unreadable',
];

function Outcome({ data, host, level }: Required<Omit<Props, 'settled'>>) {
  const { answer } = data;
  const { title, tone, badge } = endingOf(answer);
  const question = 'What became of the last change to an opportunity?';
  return (
    <>
      <Title level={level}>
        {title} <Badge tone={tone}>{badge}</Badge>
      </Title>
      {isUndecidable(data) && <p class="remarks">{lacking}</p>}
      {answer.summary && (
        <p class="whole">
          <Text text={answer.summary} />
        </p>
      )}
      {answeredTables(data).map((table) => (
        <Differences key={table.title} {...table} />
      ))}
      <Notes notes={answer.notes} />
      {unknownOutcomes.includes(answer.outcome) && (
        <Ask host={host} text="Ask what became of it" question={question} />
      )}
    </>
  );
}
