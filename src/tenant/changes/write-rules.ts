/** What the operator allows to be written, whoever agrees. */
export interface WriteRules {
  /** Writes in any hour. */
  perHour: number;
  /** Fields that may be written, by name. */
  fields: ReadonlySet<string>;
  /** Stages that may not be set, by id or name, or by one that looks like it. */
  barredStages: readonly string[];
}
