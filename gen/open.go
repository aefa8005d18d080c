package gen

import (
	"encoding/json"
	"maps"
	"reflect"
)

// OpenMembers are the members of an open object as raw JSON, by their names in the response. Of a
// name that occurs twice it has the last value.
type OpenMembers map[string]json.RawMessage

// openObject is an open object of the spec, with fields for some of its members.
type openObject interface{ setMembers(OpenMembers) }

func (a *OperationAdditions) setMembers(m OpenMembers) { a.Members = m }
func (u *OperationUpdates) setMembers(m OpenMembers)   { u.Members = m }

// UnmarshalJSON implements [json.Unmarshaler]. It sets the fields and Members.
func (a *OperationAdditions) UnmarshalJSON(data []byte) error {
	type fields OperationAdditions
	return unmarshalOpen(data, (*fields)(a), a)
}

// MarshalJSON implements [json.Marshaler]. It writes the fields, and those of Members that have no
// field.
func (a OperationAdditions) MarshalJSON() ([]byte, error) {
	type fields OperationAdditions
	return marshalOpen(fields(a), a.Members)
}

// UnmarshalJSON implements [json.Unmarshaler]. It sets the fields and Members.
func (u *OperationUpdates) UnmarshalJSON(data []byte) error {
	type fields OperationUpdates
	return unmarshalOpen(data, (*fields)(u), u)
}

// MarshalJSON implements [json.Marshaler]. It writes the fields, and those of Members that have no
// field.
func (u OperationUpdates) MarshalJSON() ([]byte, error) {
	type fields OperationUpdates
	return marshalOpen(fields(u), u.Members)
}

func unmarshalOpen(data []byte, fields any, object openObject) error {
	if err := json.Unmarshal(data, fields); err != nil {
		return err
	}
	var members OpenMembers
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	object.setMembers(members)
	return nil
}

func marshalOpen(fields any, members OpenMembers) ([]byte, error) {
	data, err := json.Marshal(fields)
	if err != nil || len(members) == 0 {
		return data, err
	}
	names := memberNames(reflect.TypeOf(fields))
	all := maps.Clone(members)
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return indexFold(names, name) >= 0 })
	var typed OpenMembers
	if err := json.Unmarshal(data, &typed); err != nil {
		return nil, err
	}
	maps.Copy(all, typed)
	return json.Marshal(all)
}
