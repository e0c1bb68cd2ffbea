import { UnknownLine } from './dockerfile.js'

/**
 * Whether a path of the tree is left out of what Docker is sent, by the lines of a .dockerignore. Lines are names from the root, or
 * with a leading double star names at any depth, whose last part may have stars; throws UnknownLine for others.
 */
export function createIgnored(text: string): (path: string) => boolean {
  const patterns = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, anywhere, name = ''] = /^(\*\*\/)?([\w./*-]+)$/.exec(line) ?? []
      if (name === '' || name.includes('**')) throw new UnknownLine(`.dockerignore: ${line}`)
      const words = name.replaceAll('.', '\\.').replaceAll('*', '[^/]*')
      return new RegExp(`^${anywhere === undefined ? '' : '(?:.*/)?'}${words}(?:/|$)`)
    })
  return (path) => patterns.some((pattern) => pattern.test(path))
}
