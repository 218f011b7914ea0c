import type { Question } from '../question.ts';
import { companyQuestions } from './companies.ts';
import { crmQuestions } from './crm.ts';
import { figureQuestions } from './figures.ts';
import { limitQuestions } from './limits.ts';
import { pipelineQuestions } from './pipeline.ts';
import { productQuestions } from './products.ts';
import { quoteQuestions } from './quotes.ts';
import { templateQuestions } from './templates.ts';
import { writeQuestions } from './writes.ts';

export const questions: Question[] = [
  ...pipelineQuestions,
  ...companyQuestions,
  ...quoteQuestions,
  ...productQuestions,
  ...limitQuestions,
  ...crmQuestions,
  ...figureQuestions,
  ...templateQuestions,
  ...writeQuestions,
];
