import { UnknownLine, type Instruction } from './dockerfile.js'

/** Numbers, since names would be looked up in the image. */
export interface ImageUser {
  readonly uid: number
  readonly gid: number
}

/** A line of a stage, as Docker understands it. */
export type ImageLine =
  | { readonly name: 'ARG'; readonly key: string; readonly value: string | undefined }
  | { readonly name: 'ENV' | 'LABEL'; readonly pairs: Readonly<Record<string, string>> }
  | { readonly name: 'WORKDIR'; readonly path: string }
  | {
      readonly name: 'COPY'
      /** An earlier stage; without it the tree. */
      readonly from: string | undefined
      readonly owner: ImageUser | undefined
      readonly mode: number | undefined
      readonly sources: readonly string[]
      readonly target: string
    }
  | { readonly name: 'RUN' | 'ENTRYPOINT' | 'CMD'; readonly words: readonly string[] }
  | { readonly name: 'USER'; readonly user: ImageUser }
  | { readonly name: 'HEALTHCHECK'; readonly words: readonly string[]; readonly timeoutMs: number }
  | { readonly name: 'EXPOSE'; readonly ports: readonly string[] }

const HEALTH_TIMEOUT_MS = 30_000
const MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 }

/** What a line does. Throws UnknownLine for what is not carried out here, whether or not Docker knows it. */
export function readImageLine({ name, text }: Instruction): ImageLine {
  const unknown = (why: string) => new UnknownLine(`${why}: ${name} ${text}`)
  // A shell reads the variables of a RUN; in all other lines Docker would.
  if (name !== 'RUN' && text.includes('$')) throw unknown('a variable outside of RUN')
  switch (name) {
    case 'ARG': {
      const [, key, value] = /^(\w+)(?:=(\S*))?$/.exec(text) ?? []
      if (key === undefined) throw unknown('not one argument')
      return { name, key, value }
    }
    case 'ENV':
    case 'LABEL':
      return { name, pairs: readPairs(text, unknown) }
    case 'WORKDIR':
      if (!/^\/\S*$/.test(text)) throw unknown('not an absolute path')
      return { name, path: text }
    case 'COPY':
      return readCopy(text, unknown)
    case 'RUN':
    case 'ENTRYPOINT':
    case 'CMD':
      if (name === 'RUN' && text.startsWith('--')) throw unknown('an option that is not known')
      return { name, words: readWords(text, unknown) }
    case 'USER':
      return { name, user: readUser(text, unknown) }
    case 'HEALTHCHECK': {
      const [, options = '', words = ''] = /^((?:--\S+ +)*)CMD +(.*)$/.exec(text) ?? []
      if (words === '') throw unknown('not a command')
      const given = readOptions(
        options,
        ['interval', 'timeout', 'start-period', 'retries'],
        unknown,
      )
      const timeout = given.get('timeout')
      const timeoutMs = timeout === undefined ? HEALTH_TIMEOUT_MS : readMs(timeout, unknown)
      return { name, words: readWords(words, unknown), timeoutMs }
    }
    case 'EXPOSE':
      return { name, ports: text.split(/ +/) }
    default:
      throw unknown('an instruction that is not known')
  }
}

type Unknown = (why: string) => UnknownLine

function readPairs(text: string, unknown: Unknown): Record<string, string> {
  const PAIR = /([\w.-]+)=(?:"([^"\\]*)"|([^\s"\\]+))(?: +|$)/y
  const pairs: Record<string, string> = {}
  while (PAIR.lastIndex < text.length) {
    const found = PAIR.exec(text)
    if (found === null) throw unknown('not name=value')
    const [, key = '', quoted, plain] = found
    pairs[key] = quoted ?? plain ?? ''
  }
  return pairs
}

/** A JSON array is a program with its arguments, all else is for a shell. */
function readWords(text: string, unknown: Unknown): string[] {
  if (!text.startsWith('[')) return ['/bin/sh', '-c', text]
  try {
    const words: unknown = JSON.parse(text)
    if (Array.isArray(words) && words.length > 0 && words.every((each) => typeof each === 'string'))
      return words
  } catch {
    // Docker would give it to a shell, which is never meant.
  }
  throw unknown('not a list of words')
}

function readUser(text: string, unknown: Unknown): ImageUser {
  const [, uid, gid] = /^(\d+):(\d+)$/.exec(text) ?? []
  if (uid === undefined || gid === undefined) throw unknown('not uid:gid in numbers')
  return { uid: Number(uid), gid: Number(gid) }
}

function readOptions(text: string, known: readonly string[], unknown: Unknown) {
  const options = new Map<string, string>()
  for (const word of text.split(/ +/).filter((each) => each !== '')) {
    const [, key = '', value = ''] = /^--([a-z-]+)=(\S+)$/.exec(word) ?? []
    if (!known.includes(key)) throw unknown(`${word} is not known`)
    options.set(key, value)
  }
  return options
}

function readMs(text: string, unknown: Unknown): number {
  const [, count = '', unit = ''] = /^(\d+)(ms|s|m)$/.exec(text) ?? []
  const ms = MS[unit]
  if (ms === undefined) throw unknown(`${text} is not a time`)
  return Number(count) * ms
}

function readCopy(text: string, unknown: Unknown): ImageLine {
  const [options = ''] = /^(?:--\S+ +)*/.exec(text) ?? []
  const given = readOptions(options, ['from', 'chown', 'chmod'], unknown)
  const paths = text.slice(options.length).split(/ +/)
  const target = paths.pop() ?? ''
  if (paths.length === 0) throw unknown('no source')
  for (const path of [...paths, target])
    if (/[*?["\\]/.test(path) || path.split('/').includes('..'))
      throw unknown(`${path} is not a plain path`)
  if (paths.length > 1 && !target.endsWith('/')) throw unknown('several sources and no directory')
  const [owner, mode] = [given.get('chown'), given.get('chmod')]
  if (mode !== undefined && !/^[0-7]{3,4}$/.test(mode)) throw unknown(`${mode} is not a mode`)
  return {
    name: 'COPY',
    from: given.get('from'),
    owner: owner === undefined ? undefined : readUser(owner, unknown),
    mode: mode === undefined ? undefined : parseInt(mode, 8),
    sources: paths,
    target,
  }
}

/** What the lines of a stage have set for those that follow, and for its containers. */
export interface ImageSettings {
  readonly args: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  readonly workdir: string
  readonly user: ImageUser
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly healthCheck:
    { readonly words: readonly string[]; readonly timeoutMs: number } | undefined
}

export const SUPERUSER: ImageUser = { uid: 0, gid: 0 }

/** The settings of an image without any line. */
export const BARE_SETTINGS: ImageSettings = {
  args: {},
  env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
  workdir: '/',
  user: SUPERUSER,
  entrypoint: [],
  command: [],
  healthCheck: undefined,
}

/**
 * The settings after a line. `given` are the arguments of the build, which go before the values of ARG lines; an ARG line without a
 * value that is not given sets nothing.
 */
export function settle(
  settings: ImageSettings,
  line: ImageLine,
  given: Readonly<Record<string, string>>,
): ImageSettings {
  switch (line.name) {
    case 'ARG': {
      const value = given[line.key] ?? line.value
      return value === undefined
        ? settings
        : { ...settings, args: { ...settings.args, [line.key]: value } }
    }
    case 'ENV':
      return { ...settings, env: { ...settings.env, ...line.pairs } }
    case 'WORKDIR':
      return { ...settings, workdir: line.path }
    case 'USER':
      return { ...settings, user: line.user }
    case 'ENTRYPOINT':
      // A command that an earlier stage has left is not for this program.
      return { ...settings, entrypoint: line.words, command: [] }
    case 'CMD':
      return { ...settings, command: line.words }
    case 'HEALTHCHECK':
      return { ...settings, healthCheck: { words: line.words, timeoutMs: line.timeoutMs } }
    case 'COPY':
    case 'RUN':
    case 'LABEL':
    case 'EXPOSE':
      return settings
  }
}
