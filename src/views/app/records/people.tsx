import type { CompanyData } from '../company/data.ts';
import { useFormats } from '../shell/format.ts';
import { ContactLink } from '../shell/parts.tsx';
import type { Host } from '../shell/view.ts';
import { type Open, partOf } from './entries.ts';

/** The contacts of a company; the host opens their addresses and numbers. */
export function People({ data: { contacts }, host }: { data: CompanyData; host: Host }) {
  if (!contacts || contacts.rows.length === 0) return null;
  return (
    <section class="panel" aria-label="Contacts">
      <h2>{`Contacts: ${partOf(contacts, useFormats())}`}</h2>
      <ul class="rows plain">
        {contacts.rows.map(({ id, name, email, phone }) => (
          <li key={id}>
            <strong dir="auto">{name ?? email ?? id}</strong>
            <span class="contact-links">
              {email && <ContactLink host={host} kind="mailto" text={email} />}
              {phone && <ContactLink host={host} kind="tel" text={phone} />}
              {!email && !phone && 'no email or phone'}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Opens a company; its name alone, which is text of a record, is no link. */
export function CompanyLink({
  id,
  name,
  open,
}: {
  id?: string | undefined;
  name?: string | undefined;
  open: Open;
}) {
  if (id === undefined) return <bdi>{name}</bdi>;
  return (
    <button type="button" class="link" onClick={() => open({ kind: 'company', id, name })}>
      <bdi>{name ?? id}</bdi>
    </button>
  );
}
