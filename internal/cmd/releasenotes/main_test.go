package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNotes_AreSectionOfTag(t *testing.T) {
	t.Parallel()
	const changelog = `# Changelog

## [Unreleased]

- Later

## [0.2.0] - 2026-12-31

### Added

- Two

## [0.1.0]

- One

[Unreleased]: https://example.com
`
	tests := map[string]struct {
		tag, version, changelog, want string
		fails                         bool
	}{
		"a section in the middle":           {tag: "v0.2.0", version: "0.2.0", changelog: changelog, want: "### Added\n\n- Two\n"},
		"the last section, without links":   {tag: "v0.1.0", version: "0.1.0", changelog: changelog, want: "- One\n"},
		"another version in the code":       {tag: "v0.2.0", version: "0.1.0", changelog: changelog, fails: true},
		"a tag without v":                   {tag: "0.2.0", version: "0.2.0", changelog: changelog, fails: true},
		"no section of the version":         {tag: "v0.3.0", version: "0.3.0", changelog: changelog, fails: true},
		"an empty section of the version":   {tag: "v0.3.0", version: "0.3.0", changelog: "## [0.3.0]\n\n## [0.2.0]\n\n- Two\n", fails: true},
		"a version that begins with it too": {tag: "v0.2.0", version: "0.2.0", changelog: "## [0.2.01]\n\n- No\n" + changelog, want: "### Added\n\n- Two\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := notes(tt.tag, tt.version, tt.changelog)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.fails, err != nil, "%v", err)
		})
	}
}
