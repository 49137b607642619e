/** Thrown if the settings forbid the start. The message is one line that names the setting. The process exits with 2. */
export class SettingsRefusal extends Error {
  override name = 'SettingsRefusal'
}

/** Exit code of a start that the settings forbid, so that a supervisor does not start the process over and over. */
export const EXIT_REFUSED = 2

/** Throws SettingsRefusal for arguments of a command that takes none. If `--port=9000` were ignored, the default would silently stay in force. */
export function refuseArguments([argument] = process.argv.slice(2)): void {
  if (argument === undefined) return
  throw new SettingsRefusal(
    `${JSON.stringify(argument)} is not understood: the program takes no arguments; settings are in the environment and in the file that ` +
      'CONFIG_FILE names (docs/reference/settings.md)',
  )
}

/** Thrown if the machine or the settings make the start impossible. The message is one line for the operator. The process exits with 2. */
export class StartRefusal extends Error {
  override name = 'StartRefusal'
}
