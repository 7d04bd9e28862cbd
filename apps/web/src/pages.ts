/** Where the next page of a list begins. */

/** The last id of a full page, which goes into the next request's `before`; null where there is no more. */
export function nextPage(rows: readonly { readonly id: string }[], limit: number): string | null {
  return rows.length === limit ? (rows.at(-1)?.id ?? null) : null;
}
