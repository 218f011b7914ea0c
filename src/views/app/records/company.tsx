/** One company in the panel: whom to call, what is open, and its quotes. */
import type { CompanyData } from '../company/data.ts';
import { useFormats } from '../shell/format.ts';
import { Failed, Pairs } from '../shell/parts.tsx';
import { useAnswer } from '../shell/use-reading.ts';
import type { Host } from '../shell/view.ts';
import { type Open, opensIn, partOf } from './entries.ts';
import { People } from './people.tsx';
import { DealRows, opensQuoteIn, QuoteRows } from './rows.tsx';

interface Props {
  id: string;
  host: Host;
  open: Open;
}

export function CompanyDetails({ id, host, open }: Props) {
  const formats = useFormats();
  const { totals } = formats;
  const call = { company: id, rows: 20 };
  const { answer, failed, retry } = useAnswer<CompanyData>(host, 'cpq_brief_company', call);
  if (failed) return <Failed reason={failed} retry={retry} />;
  if (!answer) return <p role="status">Reading the company…</p>;
  if (!answer.company) return <p>{answer.summary}</p>;
  const { company, open: deals, quotes } = answer;
  return (
    <>
      <Pairs
        pairs={[
          ['Open', deals && totals(deals.value).join(' · ')],
          ['Weighted', deals && totals(deals.weightedValue).join(' · ')],
          ['Address', company.address],
          ['Telephone', company.telephone],
          ['Account manager', company.accountManager],
        ]}
      />
      <People data={answer} host={host} />
      {deals && deals.rows.length > 0 && (
        <>
          <h3>{`Open opportunities: ${partOf(deals, formats)}`}</h3>
          <DealRows rows={deals.rows} open={opensIn(open, 'opportunity', deals.rows)} />
        </>
      )}
      {quotes && quotes.rows.length > 0 && (
        <>
          <h3>{`Quotes: ${partOf(quotes, formats)}`}</h3>
          <QuoteRows
            rows={quotes.rows}
            today={answer.today}
            open={opensQuoteIn(open, quotes.rows)}
          />
        </>
      )}
    </>
  );
}
