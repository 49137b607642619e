/** The start is refused because of the settings. The message is one line that names the setting; the process exits with 2. */
export class SettingsRefusal extends Error {
  override name = 'SettingsRefusal'
}

/** Exit code of a start that the settings forbid, so that a supervisor does not start the process over and over. */
export const EXIT_REFUSED = 2
