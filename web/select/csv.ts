/** Rows as comma-separated values with a head (RFC 4180). A cell that a spreadsheet would take for a formula begins with an apostrophe. */
export function csvOf<Row>(rows: readonly Row[], names: readonly (keyof Row & string)[]): string {
  const lines = rows.map((row) => names.map((name) => cell(String(row[name] ?? ''))).join(','))
  return [names.join(','), ...lines, ''].join('\r\n')
}

function cell(text: string): string {
  const isFormula = /^[=@\t\r]|^[+-](?![\d.])/.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
