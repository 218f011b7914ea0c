import * as z from 'zod';
import { decide } from '../src/changes/decide.ts';
import { planRevert } from '../src/changes/plan.ts';
import { changeOutput, decisionAnswer } from '../src/tool-kit/change-answers.ts';
import { defineTool, writingHints } from '../src/tool-kit/define-tool.ts';

export const revertChange = defineTool({
  name: 'cpq_revert_change',
  title: 'Take back a change',
  description:
    'Takes back one change of cpq_list_changes after a person agreed. Refused if the opportunity was changed since.',
  toolset: 'changes',
  needs: ['opportunity:write'],
  hints: writingHints,
  view: 'change',
  input: z.strictObject({
    change_id: z.string().min(1).describe('From cpq_list_changes'),
    confirm: z.string().optional().describe('Token of the preview'),
  }),
  output: changeOutput,
  async run(tenant, { change_id }, call) {
    return decisionAnswer(
      await decide(tenant, change_id, call, () => planRevert(tenant, change_id, call)),
    );
  },
});
