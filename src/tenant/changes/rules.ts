import type { Tenant } from '../tenant.ts';
import type { Reference } from './fields.ts';
import { mayBeWritten, readChanges } from './journal.ts';
import type { Plan } from './plan.ts';
import { ChangeRefused } from './refusal.ts';

/** What the operator allows to be written, whoever agrees. */
export interface WriteRules {
  /** Writes in any hour. */
  perHour: number;
  /** Fields that may be written, by name. */
  fields: ReadonlySet<string>;
  /** Stages that may not be set, by id or name. */
  barredStages: readonly string[];
}

const hourMs = 3_600_000;

/** @throws ChangeRefused for a field or a stage that may not be written */
export function checkAllowed({ fields, barredStages }: WriteRules, plan: Plan): void {
  const barred = plan.changes.filter(({ field }) => !fields.has(field));
  if (barred.length > 0) {
    const names = barred.map(({ field }) => field).join(', ');
    throw new ChangeRefused(
      `Whoever runs this server does not let agents write ${names}. Allowed: ${[...fields].join(', ')}.`,
    );
  }
  const stage = plan.changes.find(({ field }) => field === 'stage')?.to as Reference | undefined;
  const isBarred = [stage?.id, stage?.name].some(
    (word) => word !== undefined && has(barredStages, word),
  );
  if (isBarred) {
    throw new ChangeRefused(
      `Whoever runs this server does not let agents set the stage "${stage?.name}". A person can do it in the product.`,
    );
  }
}

const has = (words: readonly string[], wanted: string): boolean =>
  words.some((word) => word.toLowerCase() === wanted.toLowerCase());

/** Counts what the journal says of the last hour. @throws ChangeRefused when it is full */
export async function checkHourly(tenant: Tenant): Promise<void> {
  const { changes } = await readChanges(tenant.journal);
  const since = Date.now() - hourMs;
  const times = changes
    .filter(mayBeWritten)
    .map(({ sending }) => Date.parse(sending.at))
    .filter((time) => time > since);
  if (times.length < tenant.writing.perHour) return;
  const next = Math.ceil((Math.min(...times) + hourMs - Date.now()) / 60_000);
  throw new ChangeRefused(
    `This server writes at most ${tenant.writing.perHour} times an hour, and has. The next write is possible in ${next} minutes.`,
  );
}
