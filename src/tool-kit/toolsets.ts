/** Groups of tools that are enabled together. */
export const toolsets = ['routes', 'briefs', 'events', 'changes'] as const;
export type Toolset = (typeof toolsets)[number];
