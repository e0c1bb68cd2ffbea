import type { VenueStatus } from './status.js'

/** Rows with the columns aligned; a column without a value in any row is left out. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const shown = head.map((_, column) => rows.some((row) => (row[column] ?? '') !== ''))
  const widths = head.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) => ({ cell: cell.padEnd(widths[column] ?? 0), column }))
      .filter(({ column }) => shown[column])
      .map(({ cell }) => cell)
      .join('  ')
      .trimEnd(),
  )
}

const count = (value: number | undefined): string => (value === undefined ? '' : `${value}`)
const mebibytes = (bytes: number | undefined): string =>
  bytes === undefined ? '' : `${Math.round(bytes / 2 ** 20)} MiB`
const seconds = (value: number | undefined): string => (value === undefined ? '' : `${value} s`)
/** Six decimals are more than a person reads, and what a metric keeps. */
const ether = (wei: number | undefined): string =>
  wei === undefined ? '' : (wei / 1e18).toFixed(6)

/** The status as a person reads it. */
export function printStatus(status: VenueStatus): string {
  const { processes, markets, wallets, chain, bus } = status
  const lines = [
    `venue ${status.gateway ?? ''}: ${status.isWell ? 'well' : 'not well'}`,
    ...status.troubles.map((trouble) => `  ${trouble}`),
    '',
    ...table(
      ['PROCESS', 'STATE', 'MEMORY', 'EVENT LOOP P99'],
      processes.map(({ process, isUp, memoryBytes, eventLoopP99Sec: p99 }) => [
        ...[process, isUp ? 'up' : 'DOWN', mebibytes(memoryBytes)],
        p99 === undefined ? '' : `${Math.round(p99 * 1_000)} ms`,
      ]),
    ),
    '',
    ...table(
      [
        'MARKET',
        'STATUS',
        'SEQ',
        'HISTORY BEHIND',
        'SOCKETS BEHIND',
        'PENDING',
        'OLDEST',
        'CHECKPOINT',
      ],
      markets.map((market) => [
        ...[market.market, market.status, count(market.seq)],
        ...[count(market.historyLag), count(market.socketsLag)],
        ...[count(market.pendingSettlements), seconds(market.oldestPendingSec)],
        seconds(market.checkpointAgeSec),
      ]),
    ),
    '',
    ...table(
      ['WALLET', 'ADDRESS', 'GAS', 'RESERVE', 'STATE'],
      wallets.map(({ wallet, address, balanceWei, reserveWei, isPaused }) => [
        ...[wallet, address, ether(balanceWei), ether(reserveWei), isPaused ? 'PAUSED' : 'pays'],
      ]),
    ),
    '',
    ...lostGas(status.lostGas),
    `chain: newest block ${seconds(chain.blockAgeSec) || 'unknown'} old`,
    `bus: ${mebibytes(bus.usedBytes) || 'unknown'} of ${mebibytes(bus.maxBytes) || 'unknown'}; disk: ${mebibytes(status.diskFreeBytes) || 'unknown'} free`,
  ]
  return lines.join('\n')
}

/** Who burned what; nothing while no signer did. */
function lostGas(lost: VenueStatus['lostGas']): readonly string[] {
  if (lost === undefined || lost.gas === 0) return []
  const since = new Date(lost.sinceSec * 1_000).toISOString()
  return [
    `gas lost by signers that are code within the last hour: ${lost.gas} (counted since ${since})`,
    ...table(
      ['SIGNER', 'OWNER', 'GAS'],
      lost.top.map(({ signer, owner, gas }) => [signer, owner, `${gas}`]),
    ),
    '',
  ]
}

/** Any value as indented lines, a field each. */
export function printFields(value: unknown, indent = ''): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return `${indent}none`
    return value.map((one) => `${indent}-\n${printFields(one, `${indent}  `)}`).join('\n')
  }
  if (typeof value !== 'object' || value === null) return `${indent}${String(value)}`
  return Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([name, field]) =>
      typeof field === 'object' && field !== null
        ? `${indent}${name}:\n${printFields(field, `${indent}  `)}`
        : `${indent}${name}: ${String(field)}`,
    )
    .join('\n')
}

/** JSON in which integers beyond the exact range of a number are texts. */
export const printJson = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, field: unknown) => (typeof field === 'bigint' ? String(field) : field),
    2,
  )
