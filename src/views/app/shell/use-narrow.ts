import { useEffect, useState } from 'preact/hooks';

const query = window.matchMedia('(max-width: 37.5em)');

/** Whether the page is as narrow as a phone: then everything is in one column, in another order. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const changed = () => setNarrow(query.matches);
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  }, []);
  return isNarrow;
}
