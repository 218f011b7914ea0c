/** The two prints of a view: one that a customer may have, and one with everything. */
import { ActionButton } from './parts.tsx';

export function PrintButtons() {
  return (
    <>
      <ActionButton
        text="Print for the customer"
        busyText="Printing…"
        run={() => print('customer')}
      />
      <ActionButton text="Print internal copy" busyText="Printing…" run={() => print('internal')} />
    </>
  );
}

/**
 * Prints the page; what is internal only if that was asked for, so that the browser's own print leaves it out.
 * @throws Error if the host does not let views print
 */
async function print(copy: 'customer' | 'internal'): Promise<void> {
  const { dataset } = document.documentElement;
  let started = false;
  const start = () => {
    started = true;
  };
  window.addEventListener('beforeprint', start, { once: true });
  window.addEventListener('afterprint', () => delete dataset.print, { once: true });
  dataset.print = copy;
  window.print();
  window.removeEventListener('beforeprint', start);
  if (started) return;
  delete dataset.print;
  throw new Error('This host does not let views print.');
}
