import type { Plugin } from 'vite';
/**
 * Makes a component of each imported icon (`import IconKey from '~icons/key'`) from the one file of all Tabler icons. The package of components has
 * two files for each of its 5,900 icons, and would be the largest part of the packages that serving needs.
 */
export declare function icons(): Plugin;
//# sourceMappingURL=icons-plugin.d.ts.map