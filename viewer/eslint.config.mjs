import js from "@eslint/js";
import globals from "globals";
import typescript from "typescript-eslint";

export default typescript.config(
  { ignores: ["node_modules", "out"] },
  js.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [typescript.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // Text from a profile must never be parsed as markup.
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML", "write", "writeln"].map((property) => ({
          property,
        })),
      ],
    },
  },
  // node:test waits for its tests itself.
  { files: ["test/*.ts"], rules: { "@typescript-eslint/no-floating-promises": "off" } },
  { files: ["**/*.mjs"], languageOptions: { globals: globals.node } },
);
