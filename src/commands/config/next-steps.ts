import type { ConfigHost } from './hosts.ts';
import { baseUrlPlaceholder, type Entry, inputId, type Secret, secrets } from './launch.ts';

/** What remains to be done by hand, one step a line. */
export function nextSteps(host: ConfigHost, entry: Entry): string {
  const values = textsIn(entry);
  const isOpen = values.some((value) => value === baseUrlPlaceholder);
  const isOff = entry.disabled === true || entry.enabled === false;
  return [
    ...(isOpen ? [`Replace ${baseUrlPlaceholder} with the tenant's API address.`] : []),
    ...Object.values(secrets).flatMap((secret) => stepsFor(secret, host, values)),
    ...(isOff
      ? [`The entry is disabled in the file: enable it, or ${host.title} does not use it.`]
      : []),
    host.restart,
  ].join('\n');
}

function stepsFor(secret: Secret, { title }: ConfigHost, values: readonly string[]): string[] {
  const { variable, placeholder, title: what } = secret;
  if (values.some((value) => value.endsWith(placeholder)))
    return [`Replace ${placeholder} with your ${what}.`];
  if (values.some((value) => value.endsWith(`{input:${inputId(secret)}}`)))
    return [`${title} asks for the ${what} at the first start and stores it securely.`];
  return values.some((value) => refersTo(value, variable))
    ? [`The ${what} is not in the file: start ${title} with ${variable} in its environment.`]
    : [];
}

/** Whether a value is the variable's name, or refers to it in the way of any host. */
const refersTo = (value: string, variable: string): boolean =>
  value === variable || ['$', '{', ':'].some((mark) => value.includes(`${mark}${variable}`));

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
