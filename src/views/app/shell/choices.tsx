/** Several records match, so the person chooses one. */
export interface Candidate {
  id?: string;
  name?: string;
  number?: string;
  title?: string;
  company?: string;
  city?: string;
  status?: string;
}

interface Props {
  summary: string;
  candidates: Candidate[];
  /** Given the id, or the name of what has no id; absent where the host lets views call no tools. */
  choose: ((idOrName: string) => void) | undefined;
}

const chosen = ({ id, name }: Candidate): string => id ?? name ?? '';

export function Choices({ summary, candidates, choose }: Props) {
  return (
    <main class="choices">
      <h1>{candidates.length > 0 ? 'Which one?' : 'Nothing found'}</h1>
      <p>{summary}</p>
      <ul class="plain">
        {candidates.map((one) => (
          <li key={chosen(one)}>
            <button
              type="button"
              class="choice"
              disabled={!choose}
              onClick={() => chosen(one) && choose?.(chosen(one))}
            >
              <strong>{one.number ?? one.name ?? one.title ?? one.id}</strong>
              <span>
                {[one.number && (one.title ?? one.name), one.company ?? one.city, one.status]
                  .filter(Boolean)
                  .join(' · ')}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </main>
  );
}
