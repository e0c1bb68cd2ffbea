import type { ResolveHook } from 'node:module'

const dist = new URL('../../../../', import.meta.url)

/** Modules of this release, and those that stand in for them in the next. */
const REPLACED = new Map(
  [
    ['bus-schemas/blocks.js', './blocks.js'],
    ['core/engine/engine-version.js', './engine-version.js'],
    ['core/engine/apply-command.js', './apply-command.js'],
  ].map(([module = '', by = '']) => [
    new URL(module, dist).href,
    new URL(by, import.meta.url).href,
  ]),
)

/** What stands in for a module imports the module itself. */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const resolved = await nextResolve(specifier, context)
  const by = REPLACED.get(resolved.url)
  return by === undefined || by === context.parentURL ? resolved : { ...resolved, url: by }
}
