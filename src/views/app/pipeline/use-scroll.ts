import { useEffect, useRef, useState } from 'preact/hooks';

/** On which sides columns are out of sight: a list of `before` and `after`. */
type Hidden = '' | 'before' | 'after' | 'before after';

/** A region that scrolls sideways. */
export function useScroll(columns: number) {
  const ref = useRef<HTMLElement>(null);
  const [hidden, setHidden] = useState<Hidden>('');
  useEffect(() => {
    const region = ref.current;
    if (!region) return setHidden('');
    const update = () => setHidden(hiddenSides(region));
    const observer = new ResizeObserver(update);
    observer.observe(region);
    region.addEventListener('scroll', update, { passive: true });
    return () => {
      observer.disconnect();
      region.removeEventListener('scroll', update);
    };
  }, [columns, ref.current]);
  const scrollBy = (direction: -1 | 1) => {
    const region = ref.current;
    const forward = region && getComputedStyle(region).direction === 'rtl' ? -1 : 1;
    region?.scrollBy({ left: direction * forward * region.clientWidth * 0.8 });
  };
  return { ref, hidden, overflows: hidden !== '', scrollBy };
}

function hiddenSides({ scrollLeft, scrollWidth, clientWidth }: HTMLElement): Hidden {
  // Negative where text runs from right to left.
  const at = Math.abs(scrollLeft);
  const before = at > 2;
  const after = at + clientWidth < scrollWidth - 2;
  if (before && after) return 'before after';
  return before ? 'before' : after ? 'after' : '';
}
