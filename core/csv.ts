/** Rows as comma-separated values with a head (RFC 4180). A cell that a spreadsheet would take for a formula begins with an apostrophe. */
export const csvOf = <Row>(rows: readonly Row[], names: readonly (keyof Row & string)[]): string =>
  [names, ...rows.map((row) => names.map((name) => String(row[name] ?? '')))].map(csvLine).join('')

/** One line with its end. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(cell).join(',')}\r\n`

function cell(text: string): string {
  const isFormula = /^[=@\t\r]|^[+-](?![\d.,]+$)/.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
