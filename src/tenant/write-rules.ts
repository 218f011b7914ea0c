/** The operator's limits for writes. They apply even if a person agrees to a change. */
export interface WriteRules {
  /** Maximum number of writes in any hour. */
  perHour: number;
  /** Names of the fields that may be written. */
  fields: ReadonlySet<string>;
  /** Ids or names of stages that may not be set; names that look alike are barred too. */
  barredStages: readonly string[];
  /** Ids or names of the only stages that may be set; empty for all. */
  allowedStages: readonly string[];
}
