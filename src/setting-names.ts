/** Settings that error messages of the lower modules refer to; `config.ts` knows what each is called. */
export type ReportedSetting =
  | 'allowedStages'
  | 'baseUrl'
  | 'cacheMegabytes'
  | 'consent'
  | 'grants'
  | 'stateDir'
  | 'writeFields'
  | 'writesPerHour';

/** The name by which the operator knows a setting: a variable, or an option of the embedding program. */
export type NameOf<Setting extends string = ReportedSetting> = (setting: Setting) => string;
