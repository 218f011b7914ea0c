import * as z from 'zod';
import { InvalidArguments } from '../src/tenant/invalid-arguments.ts';
import { wording } from '../src/text/untrusted-text.ts';
import { changeOutput } from '../src/tool-kit/change-answers.ts';
import { defineTool, writingHints } from '../src/tool-kit/define-tool.ts';
import { revertChange } from './revert-change.ts';
import { upsertOpportunity } from './upsert-opportunity.ts';

const asking = { [upsertOpportunity.name]: upsertOpportunity, [revertChange.name]: revertChange };

export const answerChange = defineTool({
  name: 'cpq_answer_change',
  title: 'Answer in the view of a change',
  description:
    'For the view of a change: what the person chose there. Its secret is shown to no assistant.',
  toolset: 'changes',
  needs: ['opportunity:write'],
  hints: writingHints,
  view: 'change',
  forView: true,
  input: z.strictObject({
    secret: z.string().min(1).max(200),
    tool: z.enum([upsertOpportunity.name, revertChange.name]),
    arguments: z.record(z.string(), z.unknown()),
    answer: z.enum(['write', 'decline']),
  }),
  output: changeOutput,
  async run(tenant, { tool, arguments: given }, call) {
    const asked = asking[tool];
    const args = asked?.input.safeParse(given);
    if (!asked || !args?.success)
      throw new InvalidArguments(wording`tool and arguments must be those of the question.`);
    return asked.run(tenant, args.data, call);
  },
});
