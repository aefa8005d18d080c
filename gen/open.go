package gen

import (
	"encoding/json"
	"maps"
	"slices"
)

// OpenMembers are the members of an open object as raw JSON, by their names in the response. Of a
// name that occurs twice it has the last value.
type OpenMembers map[string]json.RawMessage

// marshalOpen marshals the fields of an open object, and those of its members that have no field.
// The members are sorted by their names.
func marshalOpen(fields any, members OpenMembers, names ...string) ([]byte, error) {
	data, err := json.Marshal(fields)
	if err != nil || len(members) == 0 {
		return data, err
	}
	all := maps.Clone(members)
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return slices.Contains(names, name) })
	var typed OpenMembers
	if err := json.Unmarshal(data, &typed); err != nil {
		return nil, err
	}
	maps.Copy(all, typed)
	return json.Marshal(all)
}
