/** All fields of one opportunity, read when its card is opened. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { fieldOf, messageOf } from '../../../values.ts';
import { type Formats, useFormats } from '../shell/format.ts';
import { Ask } from '../shell/parts.tsx';
import type { Host } from '../shell/start.tsx';

interface Props {
  id: string;
  host: Host;
  close(): void;
}

type ReadState = { record?: Record<string, unknown>; failed?: string };

export function Detail({ id, host, close }: Props) {
  const [read, setRead] = useState<ReadState>({});
  const heading = useRef<HTMLHeadingElement>(null);
  const formats = useFormats();
  useEffect(() => {
    const reading = { over: false };
    setRead({});
    heading.current?.focus();
    host
      .read<{ record: Record<string, unknown> }>('cpq_get_record', { resource: 'opportunity', id })
      .then(({ record }) => !reading.over && setRead({ record }))
      .catch((error: unknown) => !reading.over && setRead({ failed: messageOf(error) }));
    return () => {
      reading.over = true;
    };
  }, [id]);
  const { record, failed } = read;
  return (
    <section
      class="panel detail"
      aria-labelledby="detail"
      onKeyDown={({ key }) => key === 'Escape' && close()}
    >
      <div class="head">
        <h2 id="detail" ref={heading} tabIndex={-1} dir="auto">
          {typeof record?.name === 'string' ? record.name : 'Opportunity'}
        </h2>
        <div class="actions">
          <Ask primary host={host} text="Ask about this" question={() => question(id)} />
          <button type="button" onClick={close}>
            Close
          </button>
        </div>
      </div>
      {!record && !failed && <p role="status">Reading…</p>}
      {failed && <p role="alert">{failed}</p>}
      {record && <Fields record={record} formats={formats} />}
    </section>
  );
}

/**
 * Names the opportunity by id only: its name comes from records and must not act as the person's instruction.
 */
const question = (id: string): string =>
  `About the opportunity with the id ${id.replace(/[^\w-]/g, '').slice(0, 64)}: what should I know, and what is the best next step? Read it with cpq_get_record.`;

function Fields({ record, formats }: { record: Record<string, unknown>; formats: Formats }) {
  return (
    <dl class="pairs">
      {fieldsOf(record, formats).map(([name, text]) => (
        <div key={name} class="pair">
          <dt>{name}</dt>
          <dd dir="auto">{text}</dd>
        </div>
      ))}
    </dl>
  );
}

const maxFields = 40;

/** Shows names instead of ids, and times as days. */
function fieldsOf(record: Record<string, unknown>, formats: Formats): [string, string][] {
  return Object.entries(record)
    .filter(([field]) => field !== 'name')
    .flatMap(([field, value]): [string, string][] => {
      const text = describeValue(value, formats);
      return text === undefined ? [] : [[spaced(field), text]];
    })
    .slice(0, maxFields);
}

function describeValue(value: unknown, formats: Formats): string | undefined {
  if (typeof value === 'number') return formats.number(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string')
    return /^\d{4}-\d\d-\d\dT/.test(value) ? formats.day(value) : value;
  if (Array.isArray(value)) {
    return value.flatMap((one) => describeValue(one, formats) ?? []).join(', ') || undefined;
  }
  const text = fieldOf(value, 'name') ?? fieldOf(value, 'id');
  return typeof text === 'string' ? text : undefined;
}

/** expectedCloseDate → Expected close date. */
function spaced(field: string): string {
  const words = field
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
