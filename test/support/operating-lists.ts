import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inProject } from '../../devnet/launcher/binaries.js'

/** Lines of a list of docs/operating, without comments, as words. */
export const linesOf = (file: string): string[][] =>
  readFileSync(inProject(`docs/operating/${file}`), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(/\s+/))

const users = linesOf('sysusers.conf')

/** The number of a user or a group of the list. */
export const idOf = (name: string): number =>
  name === 'root' ? 0 : Number(users.find(([kind, of]) => kind !== 'm' && of === name)?.[2])

/** The groups that a user has beside its own. */
export const groupsOf = (user: string): number[] =>
  users.flatMap(([kind, of, group = '']) => (kind === 'm' && of === user ? [idOf(group)] : []))

/** Makes the directories that the list names below a path, and gives each to its user; `at` says where a path stands. */
export function makeDirectories(below: string, at: (path: string) => string): void {
  for (const [kind, path = '', mode = '', user = '', group = ''] of linesOf('tmpfiles.conf')) {
    if (kind !== 'd' || !path.startsWith(below)) continue
    const place = at(path)
    mkdirSync(place, { recursive: true })
    chownSync(place, idOf(user), idOf(group))
    // After the owner, whose change takes the set-group bit away.
    chmodSync(place, parseInt(mode, 8))
  }
}

/** Gives files that are there to the users that the list names. */
export function giveFiles(at: (path: string) => string): void {
  for (const [kind = '', path = '', mode = '', user = '', group = ''] of linesOf('tmpfiles.conf')) {
    if (kind !== 'z' && kind !== 'Z') continue
    const folder = at(path.replace(/\/\*$/, ''))
    const files = !path.endsWith('/*')
      ? [at(path)]
      : (existsSync(folder) ? readdirSync(folder) : []).map((name) => join(folder, name))
    for (const file of files.filter(existsSync)) {
      chownSync(file, idOf(user), idOf(group))
      if (/^\d+$/.test(mode)) chmodSync(file, parseInt(mode, 8))
      else if (mode !== '-') throw new Error(`a mode that is not carried out here: ${path} ${mode}`)
    }
  }
}
