import { roomOf } from './product-files.js'
import type { Way, WayFile } from './summary.js'

/** Step of an order in each process, by the process's name; for a market's own process, by the name's prefix. */
const SECTIONS: readonly (readonly [process: string, section: string])[] = [
  ['gateway', 'HTTP body, answer, reads'],
  ['order-intake', 'checks and log'],
  ['matcher', 'match, settle, result'],
  ['executor', 'settlement on the chain'],
  ['projector', 'projection'],
  ['ws-fanout', 'frames'],
  ['chain-reader', 'accounts'],
]

/** A part of the way: one process, or what several share. */
export interface WaySection {
  readonly section: string
  /** Names of the processes, without those of the markets. */
  readonly processes: readonly string[]
  /** Files that run for every order. */
  readonly files: readonly WayFile[]
  /** Files that do not always run, or also run without an order. */
  readonly also: readonly WayFile[]
}

/**
 * The files of the way in its order: those that run in one process only, then shared ones by room, and last those that
 * also run without an order in a process on the way.
 */
export function sectionsOf({ files }: Way): WaySection[] {
  const way = files.filter(({ kind }) => kind !== 'background')
  const passed = sortedProcesses(way)
  const alone = passed.map((process) => {
    const here = way.filter((it) => namesOf(it).join() === process)
    return sectionOf(sectionName(process), [process], here)
  })
  const together = way.filter((file) => namesOf(file).length > 1)
  const rooms = [...new Set(together.map(({ path }) => roomOf(path)))].sort()
  const shared = rooms.map((room) => {
    const here = together.filter(({ path }) => roomOf(path) === room)
    return sectionOf(`shared: ${room}`, sortedProcesses(here), here)
  })
  const background = files
    .filter(({ kind }) => kind === 'background')
    .filter((file) => namesOf(file).some((name) => passed.includes(name)))
  const ticking = sortedProcesses(background).filter((name) => passed.includes(name))
  const last = sectionOf('without an order as well', ticking, background)
  return [...alone, ...shared, last].filter((it) => it.files.length + it.also.length > 0)
}

function sectionOf(
  section: string,
  processes: readonly string[],
  here: readonly WayFile[],
): WaySection {
  const files = here.filter(({ kind }) => kind === 'order')
  return { section, processes, files, also: here.filter(({ kind }) => kind !== 'order') }
}

/** `matcher-cngn-usdc` is the `matcher` of a market. */
export function processName(name: string): string {
  const known = SECTIONS.find(([process]) => name === process || name.startsWith(`${process}-`))
  return known?.[0] ?? name
}

export function sectionName(name: string): string {
  return SECTIONS.find(([process]) => process === processName(name))?.[1] ?? ''
}

/** Process names in the order of the way; processes that are not on it come last. */
export function inWayOrder(names: readonly string[]): string[] {
  const place = (name: string): number => {
    const at = SECTIONS.findIndex(([process]) => process === processName(name))
    return at < 0 ? SECTIONS.length : at
  }
  return [...names].sort((one, other) => place(one) - place(other) || one.localeCompare(other))
}

const namesOf = (file: WayFile): string[] => [...new Set(file.processes.map(processName))]

const sortedProcesses = (files: readonly WayFile[]): string[] =>
  inWayOrder([...new Set(files.flatMap(namesOf))])
