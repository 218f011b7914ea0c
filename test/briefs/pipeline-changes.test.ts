import { describe, expect, test } from 'vitest';
import { toDeal } from '../../src/briefs/deals.ts';
import { ChangeGroups } from '../../src/briefs/pipeline-change-groups.ts';
import { DealSeries } from '../../src/briefs/pipeline-change-series.ts';
import type { Opportunity } from '../../src/records/records.ts';

describe('groups of changes', () => {
  const groups = (count: number) => {
    const all = new ChangeGroups('owner', {});
    for (let at = 1; at <= count; at++) {
      const record: Opportunity = { id: `d${at}`, owner: { name: `Owner ${at}` } };
      const value = { ...record, currency: 'EUR', onetimeRevenue: 100 - at };
      const deal = toDeal(value, new Map(), '0-1');
      all.add({ before: deal, after: deal, effects: [], moves: [] });
    }
    return all;
  };

  test('show the last one instead of one other', () => {
    expect(groups(4).toRows(3)).toMatchObject({ shown: 4, total: 4 });
    expect(
      groups(4)
        .toRows(3)
        .rows.map(({ name }) => name),
    ).toEqual(['Owner 1', 'Owner 2', 'Owner 3', 'Owner 4']);
  });

  test('are merged beyond the limit', () => {
    const { rows, shown, total } = groups(5).toRows(3);
    expect([shown, total, rows.length]).toEqual([3, 5, 4]);
    expect(rows[3]).toMatchObject({ name: '2 others', groups: 2, closing: { EUR: 191 } });
  });
});

describe('when a deal left its stage', () => {
  const before: Opportunity = {
    id: 'd',
    pipelineStage: { id: 'one' },
    stageUpdatedAt: '2026-06-01',
  };
  const leftAt = (fields: Partial<Opportunity>) => {
    const series = new DealSeries([before]);
    series.observe({ ...before, pipelineStage: { id: 'two' }, ...fields }, '2026-06-10');
    return series.changedAt.get('d');
  };

  test('is told by its own dates where they are later than those before', () => {
    expect(leftAt({ stageUpdatedAt: '2026-06-07' })).toBe('2026-06-07');
    expect(leftAt({ statusId: 'won', closedAt: '2026-06-08' })).toBe('2026-06-08');
  });

  test('is when it was seen otherwise', () => {
    expect(leftAt({})).toBe('2026-06-10');
    expect(leftAt({ stageUpdatedAt: '2026-05-01' })).toBe('2026-06-10');
    expect(leftAt({ stageUpdatedAt: 'soon' })).toBe('2026-06-10');
    expect(leftAt({ closedAt: 'unknown', statusId: 'won' })).toBe('2026-06-10');
  });
});
