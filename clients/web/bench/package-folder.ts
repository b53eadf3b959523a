// Where the package is: two folders above what is compiled.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const package_folder = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
