import type { Resource } from '../service/records/records.ts';

/** A kind of record that a person can attach to a conversation. */
export interface ResourceTemplate {
  resource: Resource;
  uriTemplate: string;
  name: string;
  title: string;
  description: string;
}

const template = (resource: Resource, title: string, description: string): ResourceTemplate => ({
  resource,
  uriTemplate: `cpq://${resource.replaceAll('_', '-')}/{id}`,
  name: resource,
  title,
  description,
});

/** Addressed by id. For kinds with completion, a full name or number works too if it is unique. */
export const resourceTemplates: readonly ResourceTemplate[] = [
  template('company', 'Company', 'One company, whole'),
  template('contact', 'Contact', 'One contact, whole'),
  template('opportunity', 'Opportunity', 'One opportunity, whole'),
  template('product', 'Product', 'One product, whole'),
  template('quote', 'Quote', 'One quote with its line items'),
  template('pricing_book', 'Pricing book', 'One pricing book with its prices'),
  template('quote_template', 'Quote template', 'One quote template'),
];

export const exportPrefix = 'cpq://export/';

/** The rows of any reading tool as a file, for a person. The address carries the whole question. */
export const exportTemplate = {
  uriTemplate: `${exportPrefix}{tool}{?query,filters,sort,check,by,owner,company,table}`,
  name: 'export',
  title: 'Rows as CSV',
  description:
    'The rows of a list, check or brief as a file for a spreadsheet: the name of the tool, and its arguments',
  mimeType: 'text/csv',
};
