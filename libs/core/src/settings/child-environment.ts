/** Returns this process's environment with additions, for a child process. Only the child sees the additions. */
export function childEnvironment(additions: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...additions }
}

/** Returns a variable for a child process, unless the operator set it for this process. */
export function unlessSet(name: string, value: string): Record<string, string> {
  return process.env[name] ? {} : { [name]: value }
}
