export function linkedFiles(root: string): { readonly pages: string[]; readonly copies: string[] }

export function targetOf(page: string, href: string): string | null

export function isSitePage(path: string): boolean
